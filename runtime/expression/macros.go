package expression

import (
	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/parser"
)

// comprehensions are CEL's standard macros, with one change: what they iterate over is dyn, unless it is a plain name or a field of one.
// The type of a comprehension's variable would otherwise be inferred, and a chain such as [1].map(a, {a: [a]}).map(a, {a: [a]})… doubles
// the type with each step: 1,500 characters keep the type checker busy forever, and nothing can interrupt it. The type of a name is
// declared, and no larger than its declaration. Values are still checked when they are used.
func comprehensions() cel.EnvOption {
	return cel.Macros(
		cel.HasMacro,
		cel.ReceiverMacro(operators.All, 2, overDyn(parser.MakeAll)),
		cel.ReceiverMacro(operators.Exists, 2, overDyn(parser.MakeExists)),
		cel.ReceiverMacro(operators.ExistsOne, 2, overDyn(parser.MakeExistsOne)),
		cel.ReceiverMacro(operators.Map, 2, overDyn(parser.MakeMap)),
		cel.ReceiverMacro(operators.Map, 3, overDyn(parser.MakeMap)),
		cel.ReceiverMacro(operators.Filter, 2, overDyn(parser.MakeFilter)),
	)
}

func overDyn(expand cel.MacroFactory) cel.MacroFactory {
	return func(helper parser.ExprHelper, target ast.Expr, args []ast.Expr) (ast.Expr, *common.Error) {
		if named(target) {
			return expand(helper, target, args)
		}
		return expand(helper, helper.NewCall("dyn", target), args)
	}
}

// named tells whether an expression is a name, or a field of one.
func named(e ast.Expr) bool {
	for e.Kind() == ast.SelectKind && !e.AsSelect().IsTestOnly() {
		e = e.AsSelect().Operand()
	}
	return e.Kind() == ast.IdentKind
}
