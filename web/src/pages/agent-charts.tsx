import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

import { api, must, type Schemas } from "../api/client";
import { bytes, digits } from "../lib/format";
import { useEvery, usePrefs } from "../lib/prefs";
import { Card, Loaded, Nothing } from "../ui/panel";
import ui from "../ui/ui.module.css";

const periods = { "1h": ["the last hour", 3_600_000], "24h": ["the last 24 hours", 86_400_000], "7d": ["the last 7 days", 604_800_000] } as const;
type Period = keyof typeof periods;
type Point = Schemas["TelemetryPoint"];

/** What is drawn: a figure of each step, and its highest value where the figure is an average. */
interface Figure {
  title: string;
  of: (p: Point) => number;
  most?: (p: Point) => number;
  words: (n: number) => string;
}

const figures: Figure[] = [
  { title: "Processors", of: (p) => p.cpu_percent_avg, most: (p) => p.cpu_percent_max, words: (n) => `${Math.round(n)}%` },
  { title: "Memory", of: (p) => p.memory_used_bytes_avg, most: (p) => p.memory_used_bytes_max, words: bytes },
  { title: "Sandboxes, at most", of: (p) => p.sandboxes_max, words: digits },
];

/** How an agent's machine was: processors, memory and sandboxes. */
export function AgentCharts({ project, agent }: { project: string; agent: string }) {
  const { period = "1h" } = useSearch({ strict: false }) as { period?: Period };
  const known = period in periods ? period : "1h";
  const navigate = useNavigate();
  const telemetry = useQuery({
    queryKey: ["telemetry", project, agent, known],
    queryFn: () => must(api.GET("/v1/projects/{project}/agents/{agent}/telemetry", { params: { path: { project, agent }, query: { from: new Date(Date.now() - periods[known][1]).toISOString() } } })),
    refetchInterval: useEvery(60_000),
    placeholderData: keepPreviousData,
  });
  return (
    <Card
      title="The machine"
      aside={(
        <label className={ui.row}>
          <span className={ui.muted}>Period</span>
          <select className={ui.input} style={{ width: "auto" }} value={known} onChange={(e) => void navigate({ to: ".", search: (old: object) => ({ ...old, period: e.target.value }) as never })}>
            {Object.entries(periods).map(([p, [words]]) => <option key={p} value={p}>{words}</option>)}
          </select>
        </label>
      )}
    >
      <Loaded query={telemetry} height={300} empty={(t) => t.points.length === 0} none={<Nothing title="No figures of this period."><p>Agents send them once a minute.</p></Nothing>}>
        {(t) => (
          <div className={ui.stack}>
            {figures.map((f) => <Chart key={f.title} figure={f} points={t.points} step={t.step_seconds} />)}
          </div>
        )}
      </Loaded>
    </Card>
  );
}

/** One figure over time. Its highest values are dashed where it is an average. */
function Chart({ figure, points, step }: { figure: Figure; points: Point[]; step: number }) {
  const { title, of, most, words } = figure;
  const at = useRef<HTMLDivElement>(null);
  const { theme, zone } = usePrefs();
  useEffect(() => {
    const style = getComputedStyle(at.current!);
    const series = most ? [of, most] : [of];
    const axis = { stroke: style.color, grid: { stroke: "#8884", width: 1 }, ticks: { stroke: "#8884" } };
    const plot = new uPlot({
      width: at.current!.clientWidth, height: 130, legend: { show: false }, cursor: { show: false },
      ...(zone === "utc" ? { tzDate: (ts: number) => uPlot.tzDate(new Date(ts * 1000), "UTC") } : {}),
      scales: { y: { range: (_u, _min, max) => [0, max > 0 ? max * 1.1 : 1] } },
      axes: [axis, { ...axis, size: 76, values: (_u: uPlot, ticks: number[]) => ticks.map(words) }],
      series: [{}, ...series.map((_, i) => ({ stroke: style.color, width: 1.5, ...(i > 0 ? { dash: [4, 4] } : {}) }))],
    }, plotted(points, step, series), at.current!);
    const sized = new ResizeObserver(([e]) => plot.setSize({ width: Math.floor(e!.contentRect.width), height: 130 }));
    sized.observe(at.current!);
    return () => {
      sized.disconnect();
      plot.destroy();
    };
  }, [points, step, figure, of, most, words, theme, zone]);
  const last = points.at(-1)!;
  const highest = points.reduce((n, p) => Math.max(n, (most ?? of)(p)), 0);
  return (
    <figure>
      <figcaption>{title}: <strong>{words(of(last))}</strong> <span className={ui.muted}>at the end, {words(highest)} at most</span></figcaption>
      <div ref={at} aria-hidden="true" />
    </figure>
  );
}

/** Times and values of points. A line breaks where nothing was heard for more than a step. */
function plotted(points: Point[], step: number, series: ((p: Point) => number)[]): uPlot.AlignedData {
  const times: number[] = [];
  const values: (number | null)[][] = series.map(() => []);
  for (const p of points) {
    const at = Date.parse(p.at) / 1000;
    const before = times.at(-1);
    if (before !== undefined && at - before > 1.5 * step) {
      times.push(before + step);
      values.forEach((v) => v.push(null));
    }
    times.push(at);
    series.forEach((of, i) => values[i]!.push(of(p)));
  }
  return [times, ...values];
}
