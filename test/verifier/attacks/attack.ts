import { utf8 } from '../../../schemas/crypto/encoding.js';
import { disclosureDigest } from '../../../schemas/evidence/disclosure.js';
import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import type { CheckId, VerifyOptions } from '../../../verifier-cli/src/index.js';
import { type FixtureEvent, type FixtureWorld, fixtureConsent, minute } from '../../support/ledger-fixture-events.js';
import type { Files, PackageHooks } from '../../support/package-builder.js';
import type { ZipFile } from '../../support/zip-writer.js';

/** One thing wrong with a package, and the check that must catch it; or what is right, though it seems wrong. */
export interface Attack {
  readonly name: string;
  readonly hooks: PackageHooks;
  /** Null: nothing is wrong, or the file is no package. */
  readonly catches: CheckId | null;
  readonly outcome: 'fail' | 'indeterminate' | 'pass';
  readonly verdict: 'invalid' | 'indeterminate' | 'valid' | 'no package';
  readonly options: Partial<VerifyOptions>;
  /** What the verifier in Python states that it does not check, and would need here. */
  readonly notByScript?: string;
}

export function attack(
  name: string,
  catches: CheckId,
  hooks: PackageHooks,
  options: Partial<VerifyOptions> = {},
): Attack {
  return { name, hooks, catches, outcome: 'fail', verdict: 'invalid', options };
}

/** A package with something unusual that the format allows. */
export function allowed(name: string, hooks: PackageHooks, options: Partial<VerifyOptions> = {}): Attack {
  return { name, hooks, catches: null, outcome: 'pass', verdict: 'valid', options };
}

/** @param what the script states that it does not check */
export function notByScript(what: string, attack: Attack): Attack {
  return { ...attack, notByScript: what };
}

export function noPackage(name: string, zip: NonNullable<PackageHooks['zip']>): Attack {
  return { name, hooks: { zip }, catches: null, outcome: 'pass', verdict: 'no package', options: {} };
}

export function doubt(
  name: string,
  catches: CheckId,
  hooks: PackageHooks,
  options: Partial<VerifyOptions> = {},
): Attack {
  return { name, hooks, catches, outcome: 'indeterminate', verdict: 'indeterminate', options };
}

export type Json = Record<string, unknown>;

/** Changes one event before it is sealed. */
export function event(label: string, change: (event: FixtureEvent) => unknown): PackageHooks {
  return {
    world: ({ batches }) => {
      for (const found of batches.flat().filter((one) => one.label === label)) change(found);
    },
  };
}

/** Changes the line of one entry. */
export function line(label: string, change: (line: Json) => unknown): PackageHooks {
  return {
    entryLines: (lines, { entries }) => {
      const text = entries.find((one) => one.event.label === label)?.text;
      for (const found of lines.filter(({ entry }) => entry === text)) change(found);
      return undefined;
    },
  };
}

export function batchLine(index: number, change: (line: Json) => unknown): PackageHooks {
  return {
    batchLines: (lines) => {
      change(lines[index] ?? {});
      return undefined;
    },
  };
}

/** Changes the path of the first proof of a batch. */
export function path(batch: number, change: (path: string[], line: Json) => unknown): PackageHooks {
  return {
    proofForm: 'paths',
    proofLines: (lines, number) => {
      const [first] = lines;
      if (number === batch && first !== undefined)
        first.path = hashesFrom(change(strings(first.path), first), first.path);
      return undefined;
    },
  };
}

export function hashesFrom(changed: unknown, before: unknown): unknown {
  return Array.isArray(changed) ? changed : before;
}

export function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

export function edit(name: string, change: (content: Uint8Array) => Uint8Array): (files: Files) => void {
  return (files) => files.set(name, change(files.get(name) ?? new Uint8Array()));
}

export function replaced(content: Uint8Array, from: string, to: string): Uint8Array {
  const text = new TextDecoder().decode(content);
  if (!text.includes(from)) throw new Error(`nothing to replace: ${from}`);
  return utf8(text.replace(from, to));
}

export function zipFile(name: string, change: (file: ZipFile, files: ZipFile[]) => unknown): PackageHooks {
  return {
    zipFiles: (files) => {
      const found = files.find((file) => file.name === name);
      if (found === undefined) throw new Error(`no file ${name}`);
      change(found, files);
      return undefined;
    },
  };
}

export const FLIPPED = (hex: string) => `${hex.slice(0, -1)}${hex.endsWith('0') ? '1' : '0'}`;
export const ENTRIES = PACKAGE_FILES.entries;
export const record = (change: Json) => (target: FixtureEvent) => void Object.assign(target.record, change);
/** Claims another time for a consent, in minutes after the beginning of the fixture, and a day of validity. */
export function createdAt(label: string, minutes: number): PackageHooks {
  const times = { created_at: minute(minutes).toISOString(), valid_until: minute(minutes + 24 * 60).toISOString() };
  return event(label, record(times));
}

export const asIfErased = (world: FixtureWorld) => world.batches[3]?.[1]?.record;

/** Returns the digests that a record states for these disclosures, whatever their names and forms are. */
function rawDigests(disclosures: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    disclosures.map((text) => {
      const decoded: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
      return [Array.isArray(decoded) ? String(decoded[1]) : '', disclosureDigest(text)];
    }),
  );
}

export function disclosing(label: string, disclosures: string[]): PackageHooks {
  return event(label, (one) => {
    one.disclosures = disclosures;
    one.record.disclosures = rawDigests(disclosures);
  });
}

export function disclosuresOf(label: string): string[] {
  return fixtureConsent(label, 0).disclosures;
}

export function streamOf(label: string): string {
  return fixtureConsent(label, 0).stream;
}

export function withoutEntry(label: string): PackageHooks['entryLines'] {
  return (lines, { entries }) => {
    const text = entries.find((one) => one.event.label === label)?.text;
    return lines.filter(({ entry }) => entry !== text);
  };
}

export function attachmentName(files: Files): string {
  return [...files.keys()].find((name) => name.startsWith('attachments/')) ?? '';
}

export function changeAttachment(change: (bytes: Uint8Array) => Uint8Array): (files: Files) => void {
  return (files) => edit(attachmentName(files), change)(files);
}
