import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { type RunningApp, startApp } from '../../api/server/running-app.js';
import { postSigned } from '../../support/signed-requests.js';
import { until } from '../../support/wait.js';
import { type Exposition, parseExposition, sampled } from './exposition.js';

const TOKEN = 'metrics-token-0123456789abcdef0123456789';
const read = (path: string): string =>
  readFileSync(fileURLToPath(new URL(`../../../${path}`, import.meta.url)), 'utf8');

const Grid = z.object({ h: z.int().min(1), w: z.int().min(1).max(24), x: z.int().min(0), y: z.int().min(0) });
const Target = z.object({ refId: z.string(), expr: z.string(), legendFormat: z.string() });
const Panel = z.discriminatedUnion('type', [
  z.object({ type: z.literal('row'), id: z.int(), title: z.string(), gridPos: Grid }),
  z.object({
    type: z.enum(['timeseries', 'stat']),
    id: z.int(),
    title: z.string().min(1),
    gridPos: Grid,
    datasource: z.object({ type: z.literal('prometheus'), uid: z.string().regex(/^\$\{datasource\}$/) }),
    fieldConfig: z.object({ defaults: z.object({ unit: z.string() }), overrides: z.array(z.unknown()) }),
    targets: z.array(Target).min(1),
  }),
]);
const Dashboard = z.object({
  uid: z.string().regex(/^[\w-]{1,40}$/),
  title: z.string(),
  schemaVersion: z.int(),
  templating: z.object({ list: z.array(z.object({ name: z.string(), type: z.string() })) }),
  panels: z.array(Panel),
});
const Rules = z.object({
  groups: z.array(
    z.object({
      name: z.string(),
      rules: z.array(
        z.strictObject({
          alert: z.string().regex(/^[A-Z]\w+$/),
          expr: z.string(),
          for: z
            .string()
            .regex(/^\d+[smh]$/)
            .optional(),
          labels: z.strictObject({ severity: z.enum(['warning', 'critical']) }),
          annotations: z.strictObject({ summary: z.string(), runbook: z.string() }),
        }),
      ),
    }),
  ),
});

const FUNCTIONS = /^(?:sum|max|min|count|abs|rate|increase|time|absent|histogram_quantile|by|and|or|le)$/;
const DASHBOARD_LABELS = new Set(['job', 'instance']);

interface Selector {
  readonly metric: string;
  readonly labels: readonly string[];
}

/**
 * The metrics that a query selects, each with the labels in its matchers, and the labels of the
 * grouping.
 */
function selectorsOf(query: string): { selectors: Selector[]; groupedBy: string[] } {
  const groupedBy = [...query.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/,\s*/));
  const rest = query.replaceAll(/\bby \([^)]*\)/g, '').replaceAll(/\[[^\]]*\]/g, '');
  const selectors: Selector[] = [];
  for (const [, metric = '', inner = ''] of rest.matchAll(/([a-zA-Z_:][\w:]*)(?:\{([^}]*)\})?/g)) {
    if (FUNCTIONS.test(metric)) continue;
    selectors.push({ metric, labels: [...inner.matchAll(/(\w+)\s*(?:=~|!=|=)\s*"/g)].map(([, label = '']) => label) });
  }
  return { selectors, groupedBy };
}

describe('dashboard and alerts', () => {
  let app: RunningApp;
  let exposed: Exposition;
  let labelsOf: Map<string, Set<string>>;
  const dashboard = Dashboard.parse(JSON.parse(read('ops/grafana/consent-ledger.json')));
  const alerts = Rules.parse(parse(read('ops/prometheus/alerts.yaml'))).groups.flatMap(({ rules }) => rules);
  const targets = dashboard.panels.flatMap((panel) => (panel.type === 'row' ? [] : panel.targets));
  const queries = [...targets.map(({ expr }) => expr), ...alerts.map(({ expr }) => expr)];

  beforeAll(async () => {
    app = await startApp('serve', { METRICS_TOKEN: TOKEN });
    const { keys } = await app.seed();
    // A refusal and a first time stamp create the series that appear only with them.
    await postSigned(app.url, keys.write, '/tool/v1/consents', {});
    const stamps = async () => (await app.superuser.query('select from checkpoints')).rowCount ?? 0;
    await until(async () => (await stamps()) > 0);
    // A state that is read too slowly is left out.
    exposed = await until(async () => {
      const metrics = await fetch(`${app.url}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } });
      const found = parseExposition(await metrics.text());
      return sampled(found, 'consent_ledger_database_is_readable') === 1 ? found : null;
    });
    labelsOf = new Map();
    for (const { name, labels } of exposed.samples) {
      const known = labelsOf.get(name) ?? new Set();
      for (const label of Object.keys(labels)) known.add(label);
      labelsOf.set(name, known);
    }
  });
  afterAll(() => app.stop());

  it('use existing metrics and labels', () => {
    expect(queries.length).toBeGreaterThan(40);
    for (const query of queries) {
      const { selectors, groupedBy } = selectorsOf(query);
      expect(selectors.length, query).toBeGreaterThan(0);
      const known = new Set(selectors.flatMap(({ metric }) => [...(labelsOf.get(metric) ?? [])]));
      for (const { metric, labels } of selectors) {
        expect([...labelsOf.keys()], query).toContain(metric);
        for (const label of labels.filter((name) => !DASHBOARD_LABELS.has(name))) {
          expect([...(labelsOf.get(metric) ?? [])], query).toContain(label);
        }
      }
      for (const label of groupedBy) expect([...known], `${query}: by ${label}`).toContain(label);
    }
  });

  it('use every metric of the service', () => {
    const used = new Set(queries.flatMap((query) => selectorsOf(query).selectors.map(({ metric }) => metric)));
    const families = [...exposed.types.keys()].filter((name) => name.startsWith('consent_ledger_'));
    const unused = families.filter((name) => ![...used].some((metric) => metric.startsWith(name)));
    expect(unused).toEqual([]);
  });

  it('apply rate or increase to every counter, and to no gauge', () => {
    for (const query of queries) {
      for (const [, metric = ''] of query.matchAll(/\b(?:rate|increase)\((\w+)/g)) {
        const family = metric.replace(/_(?:bucket|sum|count)$/, '');
        expect(['counter', 'histogram'], metric).toContain(exposed.types.get(metric) ?? exposed.types.get(family));
      }
      for (const { metric } of selectorsOf(query).selectors) {
        if (exposed.types.get(metric) === 'counter') expect(query).toMatch(new RegExp(`(?:rate|increase)\\(${metric}`));
      }
    }
  });

  it('are laid out without overlaps, and declare the variables that they use', () => {
    const ids = dashboard.panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const taken = new Set<string>();
    for (const {
      gridPos: { x, y, w, h },
      title,
    } of dashboard.panels) {
      expect(x + w, title).toBeLessThanOrEqual(24);
      for (let column = x; column < x + w; column += 1) {
        for (let line = y; line < y + h; line += 1) {
          expect(taken.has(`${column}/${line}`), title).toBe(false);
          taken.add(`${column}/${line}`);
        }
      }
    }
    const variables = new Set(dashboard.templating.list.map(({ name }) => name));
    for (const [, name = ''] of JSON.stringify(dashboard).matchAll(/\$\{?([a-z]\w*)/g))
      expect(variables).toContain(name);
  });

  it('the document for operators names exactly the existing metrics', () => {
    const named = new Set(
      [...read('docs/operations.md').matchAll(/`((?:consent_ledger|process|nodejs)_\w+)`/g)].map(
        ([, name = '']) => name,
      ),
    );
    expect([...named].sort()).toEqual([...exposed.types.keys()].sort());
  });

  it('alerts link to a section of the document for operators', () => {
    expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length);
    const anchors = new Set(
      [...read('docs/operations.md').matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
        title
          .toLowerCase()
          .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
          .replaceAll(/\s/g, '-'),
      ),
    );
    for (const { annotations } of alerts) {
      const [file, anchor = ''] = annotations.runbook.split('#');
      expect(file).toBe('docs/operations.md');
      expect([...anchors]).toContain(anchor);
    }
  });
});
