/** Parses JSON without losing a digit: integers beyond 2^53 become bigint, where JSON.parse alone would round them. */
export function parseJSON(text: string): unknown {
  type Reviver = (key: string, value: unknown, context?: { source: string }) => unknown;
  const exact: Reviver = (_key, value, context) => {
    if (typeof value === "number" && !Number.isSafeInteger(value) && context && /^-?\d+$/.test(context.source)) {
      return BigInt(context.source);
    }
    return value;
  };
  return JSON.parse(text, exact as (key: string, value: unknown) => unknown);
}

/** Prints a value as JSON, integers beyond 2^53 with all their digits. */
export function printJSON(value: unknown, indent = 2): string {
  const print = (v: unknown, pad: string): string => {
    if (typeof v === "bigint") return v.toString();
    if (v === undefined) return "null";
    if (v === null || typeof v !== "object") return JSON.stringify(v);
    const inner = pad + " ".repeat(indent);
    const flat = indent === 0;
    const wrap = (open: string, parts: string[], close: string) =>
      parts.length === 0 ? open + close : flat ? open + parts.join(",") + close : `${open}\n${inner}${parts.join(`,\n${inner}`)}\n${pad}${close}`;
    if (Array.isArray(v)) return wrap("[", v.map((x) => print(x, inner)), "]");
    const fields = Object.entries(v).filter(([, x]) => x !== undefined);
    return wrap("{", fields.map(([k, x]) => `${JSON.stringify(k)}:${flat ? "" : " "}${print(x, inner)}`), "}");
  };
  return print(value, "");
}
