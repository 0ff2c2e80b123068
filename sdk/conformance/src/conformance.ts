import type { Adapter } from './adapter.js';
import { ACCOUNTS } from './rules/accounts.js';
import { BODIES } from './rules/bodies.js';
import { CHOICES } from './rules/choices.js';
import { PLACES } from './rules/places.js';
import { RECORDS } from './rules/records.js';
import type { Rule } from './rules/rule.js';
import { SERVICE_RULES } from './rules/services.js';
import { SIGNALS } from './rules/signals.js';
import { Visit } from './visit.js';
import { World } from './world.js';

/** A case for any test runner. Cases run one after the other: each replaces the clock of its process. */
export interface ConformanceCase {
  readonly name: string;
  /** @throws ConformanceError if the SDK of the adapter breaks the rule */
  run(adapter: Adapter): Promise<void>;
}

/** The rules that every SDK keeps, each as a case. */
export function conformance(): readonly ConformanceCase[] {
  return [...CHOICES, ...RECORDS, ...BODIES, ...SIGNALS, ...PLACES, ...SERVICE_RULES, ...ACCOUNTS].map((rule) => ({
    name: rule.name,
    run: (adapter) => runRule(rule, adapter),
  }));
}

async function runRule({ name, sites, play }: Rule, adapter: Adapter): Promise<void> {
  for (const site of sites) {
    const world = new World(site);
    const visit = new Visit(adapter, name, world);
    world.begin();
    try {
      await play(visit);
    } finally {
      await visit.close().catch(() => undefined);
      world.end();
    }
  }
}
