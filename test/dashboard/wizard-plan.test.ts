import { expect, test } from 'vitest';
import {
  type Existing,
  performPlan,
  type Step,
  StepFailure,
  stepsLeft,
} from '../../dashboard/src/pages/wizard/plan.js';

const NOTHING: Existing = {
  isAdded: false,
  isProved: false,
  hasTextInForce: false,
  hasDocument: false,
  version: null,
  isConfigured: false,
  hasKey: false,
};
const PROVED: Existing = { ...NOTHING, isAdded: true, isProved: true };

test.each<[string, Partial<Existing>, readonly Step[]]>([
  [
    'a proved site',
    {},
    [
      'add-document',
      'write-version',
      'publish-version',
      'activate-version',
      'fill-draft',
      'publish-configuration',
      'make-key',
    ],
  ],
  [
    'a document without a version',
    { hasDocument: true },
    ['write-version', 'publish-version', 'activate-version', 'fill-draft', 'publish-configuration', 'make-key'],
  ],
  [
    'a draft of the policy',
    { hasDocument: true, version: 'draft' },
    ['publish-version', 'activate-version', 'fill-draft', 'publish-configuration', 'make-key'],
  ],
  [
    'a published policy',
    { hasDocument: true, version: 'published' },
    ['activate-version', 'fill-draft', 'publish-configuration', 'make-key'],
  ],
  ['a text in force', { hasTextInForce: true }, ['fill-draft', 'publish-configuration', 'make-key']],
  ['a published banner', { hasTextInForce: true, isConfigured: true }, ['make-key']],
  ['a key', { hasTextInForce: true, hasKey: true }, ['fill-draft', 'publish-configuration']],
  ['everything', { hasTextInForce: true, isConfigured: true, hasKey: true }, []],
])('with %s, what is left follows from what exists', (_, existing, left) => {
  expect(stepsLeft({ ...PROVED, ...existing })).toEqual(left);
});

test('without a site it is added, and without a proof nothing is published', () => {
  expect(stepsLeft(NOTHING).slice(0, 2)).toEqual(['add-site', 'prove-domain']);
  expect(stepsLeft({ ...NOTHING, isAdded: true })[0]).toBe('prove-domain');
});

test('a draft that is filled is not filled again', () => {
  expect(stepsLeft({ ...PROVED, hasTextInForce: true, hasKey: true }, true)).toEqual(['publish-configuration']);
});

/** A service in memory, which can refuse a step once, before or after it did what was asked. */
class Service {
  existing = PROVED;
  readonly calls: Step[] = [];
  /** What fails next. */
  failing: { readonly step: Step; readonly isDone: boolean } | null = null;

  readonly effects = {
    read: async () => this.existing,
    perform: async (step: Step) => {
      this.calls.push(step);
      const { failing } = this;
      if (failing?.step === step) this.failing = null;
      if (failing?.step !== step || failing.isDone) this.existing = { ...this.existing, ...EFFECTS[step] };
      if (failing?.step === step) throw new Error('no answer');
    },
  };
}

const EFFECTS: Readonly<Record<Step, Partial<Existing>>> = {
  'add-site': { isAdded: true },
  'prove-domain': { isProved: true },
  'add-document': { hasDocument: true },
  'write-version': { version: 'draft' },
  'publish-version': { version: 'published' },
  'activate-version': { hasTextInForce: true },
  'fill-draft': {},
  'publish-configuration': { isConfigured: true },
  'make-key': { hasKey: true },
};
const ALL = stepsLeft(PROVED);

test('performs the calls one after another', async () => {
  const service = new Service();
  await performPlan(service.effects);
  expect(service.calls).toEqual(ALL);
});

test.each(ALL)('a second press goes on where %s failed, and makes nothing twice', async (step) => {
  for (const isDone of [false, true]) {
    const service = new Service();
    service.failing = { step, isDone };
    const failure: unknown = await performPlan(service.effects).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StepFailure);
    expect(failure).toMatchObject({ step, reason: new Error('no answer') });
    await performPlan(service.effects);
    expect(stepsLeft(service.existing)).toEqual([]);
    // Only what the service did not do is asked for again. A draft can be saved any number of times.
    const asked = service.calls.filter((one) => one === step);
    expect(asked).toHaveLength(isDone && step !== 'fill-draft' ? 1 : 2);
    const others = service.calls.filter((one) => one !== step && one !== 'fill-draft');
    expect(others).toEqual(ALL.filter((one) => one !== step && one !== 'fill-draft'));
  }
});

test('stops where a step has no effect, and does not repeat it', async () => {
  const service = new Service();
  const perform = async (step: Step) => {
    service.calls.push(step);
  };
  await expect(performPlan({ read: service.effects.read, perform })).rejects.toMatchObject({
    step: 'add-document',
    reason: null,
  });
  expect(service.calls).toEqual(['add-document']);
});

test('says that reading failed, and waits for the proof of the domain', async () => {
  const perform = () => Promise.reject(new Error('not called'));
  await expect(performPlan({ read: () => Promise.reject(new Error('no answer')), perform })).rejects.toMatchObject({
    step: null,
  });
  await performPlan({ read: async () => ({ ...NOTHING, isAdded: true }), perform });
});
