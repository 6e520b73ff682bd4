const thin = " "; // a narrow space that does not break

/** Groups digits by thin spaces from a million on, and where asked to. */
export function digits(n: number | bigint | string): string {
  const text = String(n);
  if (!/^-?\d{5,}$/.test(text)) return text;
  return text.replace(/\B(?=(\d{3})+$)/g, thin);
}

export function plural(n: number, one: string, many = `${one}s`): string {
  return `${digits(n)} ${n === 1 ? one : many}`;
}

export function percent(part: number, whole: number): string {
  if (whole <= 0) return "0%";
  const p = (100 * part) / whole;
  if (part < whole && p > 99.9) return "99.9%"; // it is not done before it is done
  return p === 0 || p >= 10 || p === Math.round(p) ? `${Math.floor(p)}%` : `${p.toFixed(1)}%`;
}

export function duration(ms: number): string {
  if (!Number.isFinite(ms) || ms < 0) return "–";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const s = ms / 1000;
  if (s < 60) return `${s < 10 ? s.toFixed(1) : Math.round(s)} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${Math.round(s % 60)} s`;
  if (s < 86400 * 2) return `${Math.floor(s / 3600)} h ${Math.round((s % 3600) / 60)} min`;
  return `${Math.round(s / 86400)} days`;
}

export function bytes(n: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let i = 0;
  while (n >= 1024 && i < units.length - 1) {
    n /= 1024;
    i++;
  }
  return `${i === 0 || n >= 100 ? Math.round(n) : n.toFixed(1)} ${units[i]}`;
}

export function ago(at: string, now = Date.now()): string {
  const ms = now - Date.parse(at);
  const about = duration(Math.abs(ms)).replace(/ \d+ (s|min)$/, "");
  return Math.abs(ms) < 1500 ? "just now" : ms < 0 ? `in ${about}` : `${about} ago`;
}

/** A large integer as people say it: 2^64 + 13. */
export function nearPower(text: string): string | undefined {
  if (!/^\d{10,}$/.test(text)) return undefined;
  const n = BigInt(text);
  const k = n.toString(2).length - 1;
  const off = n - (1n << BigInt(k));
  if (off === 0n) return `2^${k}`;
  return off < 10n ** 15n ? `2^${k} + ${digits(off)}` : undefined;
}

export const short = (id: string) => (id.length > 14 ? `${id.slice(0, 4)}…${id.slice(-6)}` : id);
