package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// graphNode is a step as graphs show it.
type graphNode struct {
	name, kind string
	needs      []string
	state      string // of a run; "": it is of a workflow
}

func newWorkflowGraph(t *terminal, server *serverFlags) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use: "graph NAME|RUN", Short: "Draw the steps of a workflow, or of a run with their states",
		Args: arguments(1), ValidArgsFunction: server.complete(workflowNames),
		Example: "  ostraka workflow graph bpsw\n  ostraka workflow graph bpsw --format dot | dot -Tsvg >bpsw.svg",
		RunE: func(cmd *cobra.Command, args []string) error {
			draw := map[string]func(io.Writer, []graphNode){"text": drawText, "dot": drawDOT, "mermaid": drawMermaid}[format]
			if draw == nil {
				return usageError("--format %q: choose text, dot or mermaid", format)
			}
			c, err := server.connectProject()
			if err != nil {
				return err
			}
			nodes, err := graphNodes(cmd.Context(), c, args[0])
			if err != nil {
				return err
			}
			draw(t.out, nodes)
			return nil
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", "text, dot (Graphviz) or mermaid")
	return cmd
}

// graphNodes are the steps of the workflow, or of the run, that is named.
func graphNodes(ctx context.Context, c *connection, named string) (nodes []graphNode, err error) {
	id, isRun, err := findNamed(ctx, c, named)
	if err != nil {
		return nil, err
	}
	if isRun {
		doc, err := getRun(ctx, c, id)
		for _, s := range doc.Value.Steps {
			nodes = append(nodes, graphNode{s.Name, string(s.Type), s.Needs, string(s.State)})
		}
		return nodes, err
	}
	doc, err := getWorkflow(ctx, c, named)
	for _, s := range doc.Value.Steps {
		nodes = append(nodes, graphNode{s.Name, string(s.Type), s.Needs, ""})
	}
	return nodes, explain("getting the workflow", err)
}

// label is what stands in the box of a step.
func (n graphNode) label() string {
	text := n.name + " (" + n.kind + ")"
	if n.state != "" {
		text += " " + n.state
	}
	return plain(text)
}

// drawText draws a step a line, each below those that it needs.
func drawText(w io.Writer, nodes []graphNode) {
	depth := map[string]int{}
	for _, n := range nodes { // each comes after those that it needs
		for _, need := range n.needs {
			depth[n.name] = max(depth[n.name], depth[need]+1)
		}
		line := strings.Repeat("    ", max(depth[n.name]-1, 0))
		if depth[n.name] > 0 {
			line += "└── "
		}
		line += n.label()
		if len(n.needs) > 0 {
			line += "  <- " + plain(strings.Join(n.needs, ", "))
		}
		fmt.Fprintln(w, line)
	}
}

func drawDOT(w io.Writer, nodes []graphNode) {
	fmt.Fprintln(w, "digraph workflow {")
	fmt.Fprintln(w, "  node [shape=box];")
	for _, n := range nodes {
		fmt.Fprintf(w, "  %q [label=%q];\n", n.name, n.label())
		for _, need := range n.needs {
			fmt.Fprintf(w, "  %q -> %q;\n", need, n.name)
		}
	}
	fmt.Fprintln(w, "}")
}

func drawMermaid(w io.Writer, nodes []graphNode) {
	fmt.Fprintln(w, "flowchart TD")
	for _, n := range nodes {
		fmt.Fprintf(w, "    %s[\"%s\"]\n", "s_"+n.name, n.label())
		for _, need := range n.needs {
			fmt.Fprintf(w, "    %s --> %s\n", "s_"+need, "s_"+n.name)
		}
	}
}
