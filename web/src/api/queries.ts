import { QueryClient } from "@tanstack/react-query";

import { ProblemError } from "./client";

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 1000,
      // A server that is away comes back; one that refuses goes on refusing.
      retry: (count, error) => count < 2 && !(error instanceof ProblemError && error.problem.status >= 400 && error.problem.status < 500),
      refetchOnWindowFocus: false,
    },
  },
});
