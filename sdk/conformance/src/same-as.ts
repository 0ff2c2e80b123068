import type { Adapter, OpenConsent } from './adapter.js';
import type { ConformanceCase } from './conformance.js';
import { actOf, type Sequence, type Step, sequenceOf } from './sequences.js';
import { ConformanceError } from './visit.js';
import { World } from './world.js';

export interface SameOptions {
  /** Number of the first sequence. The same number gives the same sequence. */
  readonly seed: number;
  readonly count: number;
}

/**
 * A case that runs random sequences of choices, signals, starts, failures of the network and times with two SDKs. Both
 * must show the same, send the same and keep the same.
 * @param reference the adapter of an SDK that is known to be right
 */
export function sameAs(reference: Adapter, { seed, count }: SameOptions): ConformanceCase {
  const name = `shows, sends and keeps the same as ${reference.name} in ${count} sequences of seed ${seed}`;
  const known = new Map<number, readonly string[]>();
  return {
    name,
    run: async (adapter) => {
      let posts = 0;
      for (let at = 0; at < count; at += 1) {
        const sequence = sequenceOf(seed * count + at);
        const expected = known.get(at) ?? (await traceOf(reference, sequence));
        known.set(at, expected);
        posts += expected.filter((one) => one.startsWith('"POST')).length;
        if (differenceOf(expected, await traceOf(adapter, sequence)) === null) continue;
        throw await shortestFailure(name, reference, adapter, sequence);
      }
      // Sequences in which nothing is recorded would show little.
      if (posts < count / 2) throw new Error(`${reference.name} sent ${posts} consents in ${count} sequences.`);
    },
  };
}

/** The error of the shortest sequence that steps can be left out of. */
async function shortestFailure(
  rule: string,
  reference: Adapter,
  adapter: Adapter,
  sequence: Sequence,
): Promise<ConformanceError> {
  let { steps } = sequence;
  const differenceIn = async (some: readonly Step[]) =>
    differenceOf(
      await traceOf(reference, { ...sequence, steps: some }),
      await traceOf(adapter, { ...sequence, steps: some }),
    );
  for (let at = 0; at < steps.length; ) {
    const fewer = steps.toSpliced(at, 1);
    if ((await differenceIn(fewer)) === null) at += 1;
    else steps = fewer;
  }
  const { expected, seen } = (await differenceIn(steps)) ?? { expected: 'the same each time', seen: 'another outcome' };
  const words = [JSON.stringify(sequence.site), ...steps.map((step) => JSON.stringify(step))];
  return new ConformanceError(adapter.name, rule, words, `${reference.name}: ${expected}`, `${adapter.name}: ${seen}`);
}

function differenceOf(
  expected: readonly string[],
  seen: readonly string[],
): { readonly expected: string; readonly seen: string } | null {
  const length = Math.max(expected.length, seen.length);
  for (let at = 0; at < length; at += 1)
    if (expected[at] !== seen[at])
      return { expected: expected[at] ?? 'nothing more', seen: seen[at] ?? 'nothing more' };
  return null;
}

/** All that a sequence leads to with one SDK: what the visitor sees, the requests, and what is kept. */
async function traceOf(adapter: Adapter, { site, steps }: Sequence): Promise<readonly string[]> {
  const world = new World(site);
  const trace: string[] = [];
  const names = new Map<string, string>();
  /** Keys and references differ by what else asked for random bytes: their order names them. */
  const add = (one: unknown): void => {
    const text = JSON.stringify(one) ?? 'undefined';
    trace.push(
      text.replace(/\b[0-9a-f]{32}\b/g, (found) => {
        names.set(found, names.get(found) ?? `name ${names.size}`);
        return names.get(found) ?? '';
      }),
    );
  };
  let isSignalled = false;
  let requests = 0;
  const device = world.device(() => isSignalled);
  const addRequests = (): void => {
    for (const { method, path, body } of world.requests.slice(requests)) add(`${method} ${path} ${body}`);
    requests = world.requests.length;
  };
  world.begin();
  try {
    let consent = await adapter.open(device);
    await world.clock.pass(1);
    for (const step of steps) {
      if (step.kind === 'network') world.fate = step.fate;
      else if (step.kind === 'pass') await world.clock.pass(step.ms);
      else if (step.kind === 'signal') isSignalled = !isSignalled;
      else if (step.kind === 'restart') {
        consent.close();
        await world.clock.pass(1);
        consent = await adapter.open(device);
      } else actOf(consent, step);
      await world.clock.pass(1);
      addRequests();
      add(await seenOf(consent));
    }
    consent.close();
    await world.clock.pass(1);
    addRequests();
    return trace;
  } finally {
    world.end();
  }
}

async function seenOf(consent: OpenConsent): Promise<unknown> {
  const { status, choice, error } = consent.state;
  const { decision, categories, services, consent_token } = choice ?? {};
  return {
    status,
    decision,
    categories,
    services,
    consent_token,
    error: error?.code,
    allowed: [
      ...['necessary', 'analytics', 'marketing'].filter((category) => consent.allows(category)),
      ...['maps', 'films', 'chat'].filter((service) => consent.allowsService(service)),
    ],
    details: await consent.details?.(),
  };
}
