import type { Manifest } from '../../schemas/evidence/manifest.js';
import { erasureTag } from '../../schemas/evidence/person-tag.js';
import { fixtureUuid } from '../support/ledger-fixture-events.js';
import type { PackageHooks } from '../support/package-builder.js';

type Lines = Parameters<NonNullable<PackageHooks['entryLines']>>[0];

/** Event id of a line that an attacker without the ledger's keys adds to a package: no batch has it. */
const FORGED = fixtureUuid('forged');

function lineOf(lines: Lines, label: string): Lines[number] {
  const line = lines.find(({ entry }) => String(entry).includes(`"event_id":"${fixtureUuid(label)}"`));
  if (line === undefined) throw new Error(`no line of ${label}`);
  return line;
}

function tagOf(line: Lines[number]): string {
  const [, tag] = /"person_tag":"([0-9a-f]{64})"/.exec(String(line.entry)) ?? [];
  if (tag === undefined) throw new Error('the line has no tag');
  return tag;
}

type Counts = Manifest['counts'];

/** The counts of the manifest, so that nothing but the added line fails. */
const counting = (added: Partial<Counts>): PackageHooks['manifest'] => {
  return ({ counts, ...manifest }) => ({
    ...manifest,
    counts: {
      ...counts,
      entries: counts.entries + 1,
      consents: counts.consents + (added.consents ?? 0),
      erased: counts.erased + (added.erased ?? 0),
    },
  });
};

/** Adds a copy of a record that withdraws it. */
export const FORGED_WITHDRAWAL: PackageHooks = {
  manifest: counting({ consents: 1 }),
  entryLines: (lines) => {
    const real = lineOf(lines, 'c2');
    const entry = String(real.entry)
      .replaceAll(fixtureUuid('c2'), FORGED)
      .replace(/("decision\\?":\\?")\w+/, '$1withdrawn');
    return [...lines, { ...real, entry }];
  },
};

/**
 * Adds, after a record, an erasure that names it, in the batch of the record. Hides its values.
 * @param label of the record; the fixture has erased `c1`
 */
export function forgedErasure(label: string): PackageHooks {
  return {
    manifest: counting({ erased: label === 'c1' ? 0 : 1 }),
    entryLines: (lines) => {
      const real = lineOf(lines, 'e0');
      const record = lineOf(lines, label);
      const tag = Buffer.from(erasureTag(fixtureUuid(label))).toString('hex');
      const entry = String(real.entry)
        .replaceAll(fixtureUuid('e0'), FORGED)
        .replaceAll(fixtureUuid('c1'), fixtureUuid(label))
        .replaceAll(tagOf(real), tag);
      const forged = { ...real, batch: record.batch, entry };
      return lines.flatMap((line) => (line === record ? [{ ...record, disclosures: [] }, forged] : [line]));
    },
  };
}
