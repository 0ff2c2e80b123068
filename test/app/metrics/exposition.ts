/** One sample of the Prometheus text format. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** The samples of a scrape, and the type of each metric. */
export interface Exposition {
  readonly samples: readonly Sample[];
  readonly types: ReadonlyMap<string, string>;
}

/** Parses the text format (version 0.0.4). @throws Error for an invalid line */
export function parseExposition(text: string): Exposition {
  const samples: Sample[] = [];
  const types = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, metric, type] = /^# TYPE (\S+) (counter|gauge|histogram|summary|untyped)$/.exec(line) ?? [];
    if (metric !== undefined && type !== undefined) types.set(metric, type);
    if (line === '' || line.startsWith('# ')) continue;
    const [, name, inner = '', value] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (name === undefined || value === undefined) throw new Error(`not a sample: ${line}`);
    const labels = [...inner.matchAll(/([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"(?:,|$)/g)];
    if (labels.map(([whole]) => whole).join('') !== inner) throw new Error(`not labels: ${inner}`);
    samples.push({
      name,
      labels: Object.fromEntries(labels.map(([, label = '', text = '']) => [label, text])),
      value: value === '+Inf' ? Number.POSITIVE_INFINITY : Number(value),
    });
  }
  return { samples, types };
}

/** The sum of the samples with this name and at least these labels; null if there is none. */
export function sampled(
  { samples }: Exposition,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | null {
  const found = samples.filter(
    (sample) =>
      sample.name === name && Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
  );
  return found.length === 0 ? null : found.reduce((sum, { value }) => sum + value, 0);
}
