/** Reads an integer as people write it: 2^64+10^9, 0xff, 18_446…; undefined when it is none. Nothing is ever a float. */
export function parseInteger(text: string): bigint | undefined {
  const terms = text.replace(/[\s_,   ]/g, "").match(/^([^+-]+)((?:[+-][^+-]+)*)$/);
  if (!terms) return undefined;
  const one = (t: string): bigint | undefined => {
    const product = t.split("*").map((f): bigint | undefined => {
      const power = /^(\d{1,4})\^(\d{1,5})$/.exec(f);
      if (power) return Number(power[2]) * Math.log2(Number(power[1]) + 1) > 20_000 ? undefined : BigInt(power[1]!) ** BigInt(power[2]!);
      return /^(\d{1,6000}|0x[0-9a-f]{1,5000})$/i.test(f) ? BigInt(f) : undefined;
    });
    return product.includes(undefined) ? undefined : (product as bigint[]).reduce((a, b) => a * b, 1n);
  };
  let sum = one(terms[1]!);
  for (const [, sign, t] of (terms[2] ?? "").matchAll(/([+-])([^+-]+)/g)) {
    const v = one(t!);
    if (sum === undefined || v === undefined) return undefined;
    sum = sign === "+" ? sum + v : sum - v;
  }
  return sum;
}
