import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../schemas/json/json-value.js';
import { PANEL_OPERATIONS } from '../../../src/api/panel/operations.js';
import { PUBLIC_OPERATIONS } from '../../../src/api/public/public-verify.js';
import type { Operation } from '../../../src/api/server/operation.js';
import { TOOL_OPERATIONS } from '../../../src/api/tool/operations.js';
import { signedHeaders } from '../../support/signed-requests.js';
import { sampled } from '../../support/sweeps.js';
import { belowPrefix, type PanelApp, startPanel } from '../panel/panel-fixture.js';

/**
 * Runs of one character that ends in something else: where a reader tries each run anew from each of its
 * places, its time grows with the square of the length.
 */
const PUMPS = ['=', ' ', '/', '+', ':', '%', '"', '[', '.', 'a', '0', '\u0301'];
/** Of these, the ones that the panel gets, to which strangers have no access. */
const PUMPS_OF_PANEL = ['=', ' '];
/** What a query holds beside other headers of 16 KiB; what a short field and a body without a limit of its own hold. */
const LENGTHS = { query: [14_000], body: [8_000, 56_000] } as const;
/** A text four times as long takes four times as long at most. One that takes the square takes sixteen times. */
const MOST_GROWTH = 7;
/** A pair of tries with a growth above this is repeated: something else worked at the same time, or the text did it. */
const SUSPECT_GROWTH = 3;

/** A text field of an operation: a parameter of its query, or a place in the example of its body. */
interface Field {
  readonly operation: Operation;
  readonly place: { readonly query: string } | { readonly body: readonly (string | number)[] };
}

/** The places of the texts in a JSON value. */
function textsIn(value: JsonValue, path: readonly (string | number)[] = []): readonly (readonly (string | number)[])[] {
  if (typeof value === 'string') return [path];
  if (value === null || typeof value !== 'object') return [];
  const members = Array.isArray(value) ? value.map((one, index) => [index, one] as const) : Object.entries(value);
  return members.flatMap(([name, one]) => (one === undefined ? [] : textsIn(one, [...path, name])));
}

function withText(value: JsonValue, [name, ...rest]: readonly (string | number)[], text: string): JsonValue {
  if (name === undefined) return text;
  if (Array.isArray(value)) return value.map((one, index) => (index === name ? withText(one, rest, text) : one));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, one]) =>
      one === undefined ? [] : [[key, key === name ? withText(one, rest, text) : one] as const],
    ),
  );
}

const OF_PANEL: readonly Operation[] = PANEL_OPERATIONS;
const FIELDS: readonly Field[] = [...TOOL_OPERATIONS, ...PUBLIC_OPERATIONS, ...OF_PANEL].flatMap((operation) => [
  ...Object.keys(operation.query.shape).map((query) => ({ operation, place: { query } })),
  ...textsIn(operation.example.body ?? null).map((body) => ({ operation, place: { body } })),
]);
const CASES = FIELDS.flatMap((field) =>
  (OF_PANEL.includes(field.operation) ? PUMPS_OF_PANEL : PUMPS).flatMap((pump) =>
    LENGTHS['query' in field.place ? 'query' : 'body'].map((length) => ({ ...field, pump, length })),
  ),
);
type Case = (typeof CASES)[number];
const nameOf = ({ operation, place, pump, length }: Case): string =>
  `${operation.id}, ${'query' in place ? place.query : place.body.join('.')}: ${length} of ${JSON.stringify(pump)}`;

describe('no text makes the work of a request grow faster than itself', () => {
  let panel: PanelApp;
  let key: string;
  beforeAll(async () => {
    panel = await startPanel();
    ({
      keys: { write: key },
    } = await panel.app.seed());
  });
  afterAll(() => panel?.stop());

  async function send({ operation, place, pump, length }: Case, share: number): Promise<void> {
    const width = 'query' in place ? encodeURIComponent(pump).length : 1;
    const text = `x${pump.repeat(Math.ceil((length * share) / width))}x`;
    const body =
      'body' in place ? JSON.stringify(withText(operation.example.body ?? null, place.body, text)) : undefined;
    const query =
      'query' in place ? `?${new URLSearchParams({ ...operation.example.query, [place.query]: text })}` : '';
    const path = operation.path.replace(/\{\w+\}/g, () => randomUUID());
    if (operation.access.roles !== null && operation.access.apiKey === null) {
      const { users } = panel.own;
      const sent = body === undefined ? undefined : JSON.parse(body);
      await panel.as(users.owner, operation.method.toUpperCase(), belowPrefix(path) + query, sent);
      return;
    }
    const headers = body === undefined ? { 'x-api-key': key } : signedHeaders(key, path, body);
    const response = await fetch(panel.app.url + path + query, {
      method: operation.method.toUpperCase(),
      headers,
      ...(body !== undefined && { body }),
    });
    await response.arrayBuffer();
  }

  /** Least processor time of this process, in microseconds, of some requests with a share of the longest text. */
  async function workOf(one: Case, share: number, tries: number): Promise<number> {
    const figures: number[] = [];
    for (let i = 0; i < tries; i += 1) {
      const before = process.cpuUsage();
      await send(one, share);
      const { user, system } = process.cpuUsage(before);
      figures.push(user + system);
    }
    return Math.min(...figures);
  }

  async function growthOf(one: Case, tries: number): Promise<number> {
    return (await workOf(one, 1, tries)) / (await workOf(one, 1 / 4, tries));
  }

  it('in any field of any operation', async () => {
    const grown: string[] = [];
    for (const one of sampled('pumped texts', CASES)) {
      // One user sends more requests than the limit of a minute allows.
      await panel.app.superuser.query('delete from rate_limit_windows');
      if ((await growthOf(one, 2)) < SUSPECT_GROWTH) continue;
      const growth = await growthOf(one, 12);
      if (growth >= MOST_GROWTH) grown.push(`${nameOf(one)}: ${growth.toFixed(1)} times`);
    }
    expect(grown).toEqual([]);
  });
});
