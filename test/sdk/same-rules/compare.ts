// Runs random sequences against each SDK: `node <bundle> <count> <seed>`. A program of its own, because
// it replaces the clock and the globals of its process.
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { readChoice } from '../../../sdk/core/choice-text.js';
import { type Fate, ModelService } from '../core/model/service.js';
import { configurationIn } from '../core/model/site.js';
import { appDevice, type DeviceSurroundings, pageDevice, reactDevice, type SdkOnDevice } from './devices.js';
import { VirtualTime } from './virtual-time.js';

type Step =
  | {
      readonly kind: 'choose';
      readonly categories: Readonly<Record<string, boolean>>;
      readonly services: Readonly<Record<string, boolean>>;
    }
  | { readonly kind: 'accept' | 'refuse' | 'opt out' | 'signal' | 'restart' | 'resume' }
  | { readonly kind: 'network'; readonly fate: Fate }
  | { readonly kind: 'pass'; readonly ms: number };

const HOUR_MS = 3_600_000;
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('choose' as const),
      categories: fc.record({ analytics: fc.boolean(), marketing: fc.boolean() }, { requiredKeys: ['analytics'] }),
      services: fc.record({ maps: fc.boolean(), films: fc.boolean() }, { requiredKeys: [] }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom('accept', 'refuse', 'opt out', 'signal', 'restart', 'restart', 'resume'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('network' as const),
      fate: fc.constantFrom<Fate>('answered', 'answered', 'lost', 'away', 'busy', 'broken', 'refused'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.constantFrom(500, 70_000, 2 * HOUR_MS) }),
  },
);

const time = new VirtualTime();
time.install();
console.warn = () => undefined;
console.error = () => undefined;

/** All that a sequence leads to with one SDK: what the visitor sees, the requests, and what is kept. */
async function traceOf(
  make: (surroundings: DeviceSurroundings) => SdkOnDevice,
  law: string | null,
  services: readonly string[],
  steps: readonly Step[],
): Promise<readonly unknown[]> {
  time.now = Date.UTC(2026, 0, 1);
  time.forget();
  const trace: unknown[] = [];
  const service = new ModelService(() => time.now);
  let fate: Fate = 'answered';
  let isSignalled = false;
  const names = new Map<string, string>();
  /** Keys and references are random: their order names them. */
  const named = (text: string): string =>
    text.replace(/\b[0-9a-f]{32}\b/g, (found) => {
      names.set(found, names.get(found) ?? `name ${names.size}`);
      return names.get(found) ?? '';
    });
  globalThis.fetch = async (input, init) => {
    const { pathname, searchParams } = new URL(String(input));
    trace.push(`${init?.method} ${pathname} ${named(String(init?.body ?? searchParams))}`);
    const answer = (status: number, body: unknown) => new Response(JSON.stringify(body), { status });
    if (fate === 'away') throw new TypeError('no network');
    if (pathname.endsWith('/config')) return answer(200, { data: configurationIn(law, 'v1', [], services) });
    if (pathname.endsWith('/status')) {
      const { visitor_id = '', consent_type = '' } = Object.fromEntries(searchParams);
      return answer(200, { data: { consents: service.status(visitor_id, consent_type) } });
    }
    const { status, acceptance } = service.post(String(init?.body), fate);
    if (status === 0) throw new TypeError('no network');
    return answer(
      status,
      acceptance === undefined ? { code: 'VALIDATION_ERROR', message: 'no' } : { data: acceptance },
    );
  };
  const device = make({ time, isSignalled: () => isSignalled });
  device.open();
  await time.pass(1);
  for (const one of steps) {
    const consent = device.consent();
    const isReady = consent.state.configuration !== null;
    if (one.kind === 'network') fate = one.fate;
    else if (one.kind === 'pass') await time.pass(one.ms);
    else if (one.kind === 'signal') isSignalled = !isSignalled;
    else if (one.kind === 'resume') consent.resume();
    else if (one.kind === 'restart') {
      device.close();
      await time.pass(1);
      device.open();
    } else if (isReady) act(consent, one);
    await time.pass(1);
    const { state } = device.consent();
    const allowed = ['necessary', 'analytics', 'marketing'].filter((category) => device.consent().allows(category));
    allowed.push(...['maps', 'films', 'chat'].filter((service) => device.consent().allowsService(service)));
    const { decision, categories, services: stated, consent_token } = state.choice ?? {};
    trace.push({
      status: state.status,
      decision,
      categories,
      stated,
      consent_token,
      error: state.error?.code,
      allowed,
    });
    trace.push(
      device
        .consent()
        .queued()
        .map(({ body }) => named(body)),
    );
  }
  const kept = readChoice(device.kept() ?? '');
  trace.push(
    named(JSON.stringify(kept)),
    device
      .consent()
      .records()
      .map(({ consent_token }) => consent_token),
  );
  device.close();
  await time.pass(1);
  return trace;
}

function act(consent: ReturnType<SdkOnDevice['consent']>, one: Step): void {
  const answer =
    one.kind === 'choose'
      ? consent.choose(one.categories, undefined, one.services)
      : one.kind === 'accept'
        ? consent.acceptAll()
        : one.kind === 'refuse'
          ? consent.rejectAll()
          : consent.optOutOfSale();
  answer.catch(() => undefined);
}

const [count, seed] = process.argv.slice(2).map(Number);
let requests = 0;
await fc.assert(
  fc.asyncProperty(
    fc.constantFrom('gdpr', 'ccpa', null),
    fc.constantFrom<readonly string[]>([], ['maps', 'films']),
    fc.array(step, { minLength: 2, maxLength: 9 }),
    async (law, services, steps) => {
      const page = await traceOf(pageDevice, law, services, steps);
      requests += page.filter((one) => String(one).startsWith('POST')).length;
      for (const other of [reactDevice, appDevice]) {
        const trace = await traceOf(other, law, services, steps);
        const i = page.findIndex((one, at) => !isDeepStrictEqual(one, trace[at]));
        if (i >= 0 || trace.length !== page.length)
          throw new Error(
            `${other.name} differs at ${i}: ${JSON.stringify(page[i])} / ${JSON.stringify(trace[i])}\n${JSON.stringify(trace)}`,
          );
      }
    },
  ),
  { numRuns: count ?? 0, seed: seed ?? 0 },
);
const { user, system } = process.cpuUsage();
console.log(
  `${count} sequences of seed ${seed}, ${requests} requests with each SDK, in ${Math.round((user + system) / 1e6)} s of processor time`,
);
