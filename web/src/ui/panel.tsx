import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";

import css from "./ui.module.css";
import { ProblemError } from "../api/client";
import { digits } from "../lib/format";

/** A part of a page, with a heading. */
export function Card({ title, aside, children, flush }: { title?: ReactNode; aside?: ReactNode; children: ReactNode; flush?: boolean }) {
  return (
    <section className={css.card}>
      {title && (
        <div className={css.cardHead}>
          <h2>{title}</h2>
          {aside}
        </div>
      )}
      <div className={flush ? css.flush : css.cardBody}>{children}</div>
    </section>
  );
}

/** What went wrong and what to do next, in the server's words. */
export function Trouble({ error, retry }: { error: unknown; retry?: () => void }) {
  const p = error instanceof ProblemError ? error.problem : undefined;
  return (
    <div className={css.problem} role="alert">
      <b>{p ? p.title : "Error"}</b>
      <span>{p ? p.detail : String(error instanceof Error ? error.message : error)}</span>
      {p?.errors?.map((e, i) => <span key={i}>{e.location ? `${e.location}: ` : ""}{e.message}</span>)}
      {p?.hint && <span>Next: {p.hint}</span>}
      {p && (
        <span className={css.muted}>
          <code>{p.code}</code>
          {p.request_id && <> · request <code>{p.request_id}</code></>}
        </span>
      )}
      {retry && (
        <span>
          <button type="button" className={`${css.button} ${css.small}`} onClick={retry}>Try again</button>
        </span>
      )}
    </div>
  );
}

/** Says that there is nothing, and what would make something. */
export function Nothing({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className={css.note}>
      <strong>{title}</strong>
      {children}
    </div>
  );
}

/** Shows what a query brought: loading, an error (with the old data, marked), nothing, or the thing. */
export function Loaded<T>({ query, height = 160, empty, none, children }: {
  query: UseQueryResult<T>; height?: number; empty?: (data: T) => boolean; none?: ReactNode; children: (data: T) => ReactNode;
}) {
  const { data, error, refetch } = query;
  if (data === undefined) {
    if (error) return <Trouble error={error} retry={() => void refetch()} />;
    return <div className={css.skeleton} style={{ height }} role="status" aria-label="Loading" />;
  }
  return (
    <>
      {error && <Trouble error={error} retry={() => void refetch()} />}
      {empty?.(data) ? none : children(data)}
    </>
  );
}

/** Says how many of a list are shown, and shows more where there are more. */
export function More({ query, shown, of }: { query: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => Promise<unknown> }; shown: number; of?: number }) {
  if (!query.hasNextPage) return null;
  return (
    <div className={css.note}>
      <button type="button" className={css.button} disabled={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>Showing {digits(shown)}{of !== undefined ? ` of ${digits(of)}` : ""}: show more</button>
    </div>
  );
}
