import { choose, type Draft, draftOf, type EntryLine, type ManifestLie, type Request, signedFiles } from './export.js';
import { isConsent, type Ledger, personTag, rollUpsOver } from './ledger.js';
import { base64, hex, type JsonRecord, utf8 } from './primitives.js';
import { batchOf, consentId, SITE } from './world.js';

export interface ReceiptOptions {
  readonly disclose?: Request['disclose'];
  /** Changes the lines before they are signed. */
  readonly draft?: (draft: Draft) => void;
  /** Changes the manifest before it is signed. */
  readonly manifest?: ManifestLie | undefined;
  /** Size of the checkpoint; default: the first one over the record's batch. */
  readonly size?: number;
  /** Records in the receipt besides the one that it is of. */
  readonly besides?: readonly string[];
  /** Changes the files after they are signed: text, or base64. */
  readonly files?: (files: JsonRecord) => void;
  /** Changes the text of the receipt. */
  readonly text?: (text: string) => string;
}

/** The receipt of a record, as of the first checkpoint over it; with `visitor_id`, it opens the tag. */
export function receiptOf(ledger: Ledger, label: string, options: ReceiptOptions = {}): Uint8Array {
  const { disclose = ['visitor_id'], draft: bend, besides = [] } = options;
  const { plan } = ledger;
  const batch = batchOf(plan, label);
  const size = options.size ?? plan.stamps.find((stamp) => stamp.size > batch)?.size ?? plan.size;
  const request = { eventIds: [label, ...besides].map(consentId), disclose };
  const choice = choose(ledger, request, size);
  const { event } = [...choice.entries.keys()].find((leaf) => leaf.event.label === label) ?? {};
  const named = event?.record ?? {};
  choice.entries = new Map(
    [...choice.entries].filter(([leaf]) => {
      const { document_version_id: version } = leaf.event.record;
      const isForAll = ['SiteConfigPublished.v1', 'LedgerPolicySet.v1', 'LedgerKeyAnnounced.v1'].includes(
        leaf.event.type,
      );
      const isNamed = !isConsent(leaf.event.type) && version === named.document_version_id;
      return leaf.event === event || besides.includes(leaf.event.label) || isNamed || isForAll;
    }),
  );
  const draft = draftOf(ledger, request, choice);
  const kept = new Set([
    0,
    size - 1,
    ...[...choice.entries.values()].flatMap(({ number }) => [number, ...rollUpsOver(number, size)]),
  ]);
  draft.batches = draft.batches.filter(({ sealed }) => kept.has(sealed.number));
  for (const number of draft.tags.keys()) if (!kept.has(number)) draft.tags.delete(number);
  draft.complete = [];
  if (disclose === 'all' || disclose.includes('visitor_id')) open(draft, label);
  bend?.(draft);
  return receiptBytes(draft, options);
}

/** Opens the tag of the record's line, if it is that of a person. */
function open({ ledger, entries }: Draft, label: string): void {
  const line = entries.find(({ leaf }) => leaf.event.label === label && leaf.event.record.site_id === SITE);
  const { person } = line?.leaf.event ?? {};
  const id = person == null ? undefined : ledger.plan.persons.get(person);
  if (line === undefined || id === undefined || line.leaf.tag === null) return;
  for (let n = 1; n <= 100; n += 1) if (hex(personTag(id, n)) === hex(line.leaf.tag)) line.person = { id: hex(id), n };
}

function receiptBytes(
  draft: Draft,
  { manifest: lie, files: change, text = (same) => same }: ReceiptOptions,
): Uint8Array {
  const files = signedFiles(draft, (manifest) => {
    Object.assign(manifest, { format: 'consent-ledger-receipt' });
    lie?.(manifest, draft);
  });
  const isText = (name: string): boolean => /\.(?:json|jws|ndjson|note|cosignatures|txt)$/.test(name);
  const content: JsonRecord = Object.fromEntries(
    [...files].map(([name, bytes]) => [name, isText(name) ? Buffer.from(bytes).toString('utf8') : base64(bytes)]),
  );
  change?.(content);
  return utf8(text(JSON.stringify({ format: 'consent-ledger-receipt', version: 1, files: content })));
}

/** Changes the line of the receipt's record. */
export function bent(label: string, change: (line: EntryLine) => void): ReceiptOptions {
  return {
    draft: ({ entries }) => {
      for (const line of entries) if (line.leaf.event.label === label) change(line);
    },
  };
}
