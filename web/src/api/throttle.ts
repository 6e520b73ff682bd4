import type { QueryKey } from "@tanstack/react-query";

/** Does something about a key at once where that was not done lately, and else once when it is due: often said is not often done. */
export class Throttle {
  private readonly last = new Map<string, number>();
  private readonly due = new Map<string, number>();

  constructor(private readonly run: (key: QueryKey) => void) {}

  soon(key: QueryKey, every: number) {
    const name = JSON.stringify(key);
    const wait = (this.last.get(name) ?? -Infinity) + every - performance.now();
    if (wait <= 0) return this.now(name, key);
    if (!this.due.has(name)) this.due.set(name, window.setTimeout(() => this.now(name, key), wait));
  }

  stop() {
    this.due.forEach((timer) => clearTimeout(timer));
    this.due.clear();
  }

  private now(name: string, key: QueryKey) {
    clearTimeout(this.due.get(name));
    this.due.delete(name);
    this.last.set(name, performance.now());
    this.run(key);
  }
}
