import { manifestSignature } from './keys.js';
import {
  byBytes,
  coverOf,
  erasureTag,
  isConsent,
  type Leaf,
  type Ledger,
  personTag,
  rollUpsOver,
  type SealedLeaf,
  saltOf,
  streamKey,
} from './ledger.js';
import { at, canonical, hex, instant, type Json, type JsonRecord, sha256Hex, utf8 } from './primitives.js';
import { consentsOf, digestOf, noticesOf, POLICY_STREAM, SITE, value } from './world.js';
import { storedZip } from './zip.js';

/** Conditions of the requested package. */
export interface Request {
  readonly site?: string;
  readonly from?: string;
  readonly to?: string;
  readonly consentType?: string;
  readonly version?: string;
  readonly eventIds?: readonly string[];
  /** Name of the person. */
  readonly person?: string;
  readonly disclose?: 'all' | 'none' | readonly string[];
  /** Labels of the records whose keys the service lost. */
  readonly lostKeys?: readonly string[];
}

/** A line of `entries.ndjson`, with the leaf that it was made of. */
export interface EntryLine {
  readonly leaf: Leaf;
  entry: string;
  batch: number;
  index: number;
  disclosures: string[];
  erased: { stream: string; revision: number } | null;
  keyLost: boolean;
  /** In a receipt: opens the person tag. */
  person?: { id: string; n: number };
}

/** A line of `batches.ndjson`, of which the shown leaves can be chosen anew. */
export interface BatchLine {
  readonly sealed: SealedLeaf;
  header: string;
  path: string[];
  streams: JsonRecord[];
  hashes: string[];
}

/** Everything in a package. A forgery changes it before it is signed. */
export interface Draft {
  readonly ledger: Ledger;
  readonly request: Request;
  readonly site: string;
  /** Size of the package's checkpoint. */
  size: number;
  entries: EntryLine[];
  batches: BatchLine[];
  /** Lines of `proofs/<number>.ndjson`. */
  readonly proofs: Map<number, JsonRecord[]>;
  /** Lines of `tags/<number>.ndjson`. */
  readonly tags: Map<number, JsonRecord[]>;
  consistency: JsonRecord[];
  /** Further files by name: notes, responses, notices, attachments. */
  readonly files: Map<string, Uint8Array>;
  complete: { stream: string; first: number; last: number }[];
  filter: JsonRecord;
  exportedAt: number;
}

/** The events of the ledger that an honest package contains. */
function chosen(ledger: Ledger, request: Request, size: number): ReadonlyMap<Leaf, SealedLeaf> {
  const { site = SITE } = request;
  const all = ledger.sealed.slice(0, size).flatMap((sealed) => sealed.leaves.map((leaf) => ({ leaf, sealed })));
  const consents = new Set(
    all.filter(({ leaf }) => isConsent(leaf.event.type) && matches(leaf, request)).map(({ leaf }) => leaf),
  );
  const ids = new Set([...consents].map(({ event }) => event.record.event_id));
  const isErasureOf = ({ event }: Leaf): boolean => {
    const { erased_event_id: erased } = event.record;
    return erased !== undefined && (isWhole(request) || ids.has(erased));
  };
  const mine = all.filter(
    ({ leaf }) =>
      leaf.stream === noticesOf(site) ||
      leaf.stream === POLICY_STREAM ||
      (leaf.stream === consentsOf(site) && (consents.has(leaf) || isErasureOf(leaf))),
  );
  return new Map(mine.map(({ leaf, sealed }) => [leaf, sealed]));
}

function isWhole({ from, to, consentType, version, eventIds, person }: Request): boolean {
  return [from, to, consentType, version, eventIds, person].every((one) => one === undefined);
}

function matches({ event, stream }: Leaf, request: Request): boolean {
  const { site = SITE, from, to, consentType, version, eventIds, person } = request;
  const { record } = event;
  const created = String(record.created_at);
  return (
    stream === consentsOf(site) &&
    (from === undefined || created >= from) &&
    (to === undefined || created < to) &&
    (consentType === undefined || record.consent_type === consentType) &&
    (version === undefined || record.document_version_id === version) &&
    (eventIds === undefined || eventIds.includes(String(record.event_id))) &&
    (person === undefined || event.person === `${site} ${person}`)
  );
}

/** Decisions of the operator before lines are made from them. */
export interface Choice {
  /** Leaves to include, with the batch that each is shown in. */
  entries: Map<Leaf, SealedLeaf>;
  /** Size of the package's checkpoint. */
  size: number;
  /** Records of the person that the manifest states. */
  records: number;
  /** Id of the person that the manifest states. */
  personId: Uint8Array | null;
}

/** Makes the honest choice, as of the newest checkpoint or one of `size`. */
export function choose(ledger: Ledger, request: Request, size: number = ledger.plan.size): Choice {
  const entries = new Map(chosen(ledger, request, size));
  const { site = SITE, person } = request;
  const id = person === undefined ? null : (ledger.plan.persons.get(`${site} ${person}`) ?? null);
  const records = [...entries.keys()].filter(({ event }) => isConsent(event.type)).length;
  return { entries, size, records, personId: id };
}

/** Makes the draft of a package. */
export function draftOf(ledger: Ledger, request: Request, { entries, size, records, personId }: Choice): Draft {
  const { site = SITE, disclose = 'all', lostKeys = [] } = request;
  const own = [consentsOf(site), noticesOf(site), POLICY_STREAM];
  const erasures = new Map<Json, { stream: string; revision: number }>();
  for (const { leaves } of ledger.sealed.slice(0, size))
    for (const { event, stream, revision } of leaves) {
      const { erased_event_id: erased } = event.record;
      if (erased !== undefined && !erasures.has(erased)) erasures.set(erased, { stream, revision });
    }
  const sorted = [...entries].sort(([a], [b]) =>
    a.stream === b.stream ? a.revision - b.revision : a.stream < b.stream ? -1 : 1,
  );
  const lines = sorted.map(([leaf, sealed]) => {
    const erased = erasures.get(leaf.event.record.event_id ?? null) ?? null;
    const keyLost = lostKeys.includes(leaf.event.label);
    const isShown = erased === null && !keyLost && matches(leaf, request);
    const names = disclose === 'none' ? [] : disclose;
    const values = leaf.event.values.filter(({ name }) => isShown && (names === 'all' || names.includes(name)));
    const disclosures = values.map(({ text }) => text);
    const place = { batch: sealed.number, index: sealed.leaves.indexOf(leaf) };
    return { leaf, entry: leaf.text, ...place, disclosures, erased, keyLost };
  });
  const numbers = new Set([0, ...coverOf(size)]);
  for (const { number } of entries.values()) for (const one of [number, ...rollUpsOver(number, size)]) numbers.add(one);
  const included = [...numbers].sort((a, b) => a - b).map((number) => at(ledger.sealed, number));
  const next = request.person === undefined || personId === null ? null : personTag(personId, records + 1);
  const draft: Draft = {
    ledger,
    request,
    site,
    size,
    entries: lines,
    batches: included.map((sealed) => batchLine(ledger, sealed, size, indexesOfStreams(sealed, own))),
    proofs: new Map(),
    tags: new Map(),
    consistency: [],
    files: new Map(),
    complete: completeOf(lines, own, isWhole(request)),
    filter: filterOf(request, site, personId, records),
    exportedAt: 0,
  };
  prove(draft, next);
  addCheckpoints(draft);
  addContents(draft);
  return draft;
}

/**
 * Lines for the proofs of entries and tags. In a package with a filter, the leaves of the cover also
 * show that no erasure of a record is left out.
 * @param absent a tag that no leaf of the cover has
 */
export function prove(draft: Draft, absent: Uint8Array | null): void {
  const { ledger, size, request } = draft;
  const cover = new Set(coverOf(size));
  for (const { sealed } of draft.batches) {
    const { number, entryTree, tags } = sealed;
    const held = draft.entries.filter(({ batch }) => batch === number || rollUpsOver(batch, size).includes(number));
    const own = held.filter(({ batch }) => batch === number);
    if (own.length > 0)
      draft.proofs.set(
        number,
        own.map(({ index }) => ({ index, path: entryTree.inclusion(index).map(hex) })),
      );
    const shown = new Set(held.flatMap(({ leaf: { tag } }) => (tag === null ? [] : [indexOfTag(tags, tag)])));
    if (absent !== null && cover.has(number)) for (const index of neighbours(tags, absent)) shown.add(index);
    if (!isWhole(request) && cover.has(number))
      for (const tag of erasureTagsToShow(draft, number)) for (const index of neighbours(tags, tag)) shown.add(index);
    shown.delete(-1);
    if (shown.size > 0) draft.tags.set(number, tagLines(at(ledger.sealed, number), shown));
  }
}

/** Erasure tags of records up to this leaf of the cover that no erasure in the package names. */
function erasureTagsToShow({ entries, request }: Draft, number: number): readonly Uint8Array[] {
  const erased = new Set(entries.map(({ leaf: { event } }) => event.record.erased_event_id));
  return entries.flatMap(({ batch, leaf }) => {
    const { type, record } = leaf.event;
    const isOpen = isConsent(type) && matches(leaf, request) && !erased.has(record.event_id);
    return isOpen && batch <= number ? [erasureTag(String(record.event_id))] : [];
  });
}

export function indexOfTag(tags: readonly Uint8Array[], tag: Uint8Array): number {
  return tags.findIndex((one) => byBytes(one, tag) === 0);
}

/** Places of the tags beside one that is absent. */
export function neighbours(sorted: readonly Uint8Array[], absent: Uint8Array): readonly number[] {
  const above = sorted.findIndex((one) => byBytes(one, absent) > 0);
  const next = above < 0 ? sorted.length : above;
  return [next - 1, next].filter((index) => index >= 0 && index < sorted.length);
}

/** Lines of a tag file that shows the tags at these places. */
export function tagLines({ tags, tagTree }: SealedLeaf, shown: ReadonlySet<number>): JsonRecord[] {
  return [
    ...[...shown].sort((a, b) => a - b).map((index) => ({ index, tag: hex(at(tags, index)) })),
    ...tagTree.besides(shown).map((hash) => ({ hash: hex(hash) })),
  ];
}

/** Places of the streams' runs, and of the leaves on both sides of where each stream is or would be. */
export function indexesOfStreams({ runs }: SealedLeaf, streams: readonly string[]): ReadonlySet<number> {
  const keys = runs.map(({ stream }) => streamKey(stream));
  return new Set(
    streams.flatMap((stream) => {
      const index = runs.findIndex((run) => run.stream === stream);
      if (index < 0) return neighbours(keys, streamKey(stream));
      return [index - 1, index, index + 1].filter((place) => place >= 0 && place < runs.length);
    }),
  );
}

/** A line of `batches.ndjson` that shows the runs at these places. */
export function batchLine({ tree }: Ledger, sealed: SealedLeaf, size: number, shown: ReadonlySet<number>): BatchLine {
  const { number, headerText, runs, streamTree } = sealed;
  return {
    sealed,
    header: headerText,
    path: tree.inclusion(number, size).map(hex),
    streams: [...shown]
      .sort((a, b) => a - b)
      .map((index): JsonRecord => {
        const { stream, start, first, last } = at(runs, index);
        return { index, key: hex(streamKey(stream)), start, first, last };
      }),
    hashes: streamTree.besides(shown).map(hex),
  };
}

function completeOf(lines: readonly EntryLine[], own: readonly string[], whole: boolean): Draft['complete'] {
  return own.flatMap((stream) => {
    const last = lines.findLast(({ leaf }) => leaf.stream === stream)?.leaf.revision;
    return last === undefined || (!whole && stream.startsWith('consents-')) ? [] : [{ stream, first: 0, last }];
  });
}

function filterOf(request: Request, site: string, id: Uint8Array | null, records: number): JsonRecord {
  const { from = null, to = null, consentType = null, version = null, eventIds, person, disclose = 'all' } = request;
  const digest = person === undefined ? '' : digestOf(value(`request for ${person}`, 'visitor_id', person).text);
  const isRestricted = [from, to, consentType, version, eventIds ?? null].some((one) => one !== null);
  return {
    site_id: site,
    from,
    to,
    consent_type: consentType,
    document_version_id: version,
    event_ids: eventIds === undefined ? null : [...eventIds],
    person: person === undefined ? null : { digest, id: id && hex(id), records: isRestricted ? null : records },
    disclose: typeof disclose === 'string' ? disclose : [...disclose],
  };
}

/** Puts in the checkpoints up to the package's, and how they belong together. */
function addCheckpoints(draft: Draft): void {
  const { ledger, size } = draft;
  const { plan, tree, checkpoints } = ledger;
  const included = checkpoints.filter((one) => one.size <= size);
  for (const { size: own, note, response } of included) {
    draft.files.set(`checkpoints/${own}.note`, note);
    draft.files.set(`checkpoints/${own}.1.tsr`, response);
  }
  draft.consistency = included.slice(1).map((one, i) => {
    const from = at(included, i).size;
    return { from, to: one.size, path: tree.consistency(from, one.size).map(hex) };
  });
  draft.exportedAt = (included.at(-1)?.time ?? plan.start) + 60_000;
}

/** Puts in the texts, configurations and attachments that the entries name. */
export function addContents(draft: Draft): void {
  const texts = new Map(draft.ledger.plan.texts.map((text) => [sha256Hex(text), text]));
  for (const { leaves } of draft.ledger.sealed)
    for (const { event } of leaves)
      if (event.type === 'SiteConfigPublished.v1') {
        const text = utf8(canonical(event.record));
        texts.set(sha256Hex(text), text);
      }
  for (const { leaf, disclosures } of draft.entries) {
    const { document_hash: document, site_config_hash: configuration } = leaf.event.record;
    for (const hash of [document, configuration]) {
      const text = texts.get(String(hash));
      if (text !== undefined) draft.files.set(`notices/${String(hash)}`, text);
    }
    for (const { attachment, text } of leaf.event.values)
      if (attachment !== null && disclosures.includes(text))
        draft.files.set(`attachments/${sha256Hex(attachment)}`, attachment);
  }
}

/** Lies in the manifest, which is signed all the same. */
export type ManifestLie = (manifest: JsonRecord, draft: Draft) => void;

/** The files of a draft, without the manifest. */
export function contentsOf(draft: Draft): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  files.set('entries.ndjson', entriesFile(draft));
  files.set(
    'batches.ndjson',
    ndjson(draft.batches.map(({ header, path, streams, hashes }) => ({ header, path, streams, hashes }))),
  );
  for (const [number, lines] of draft.proofs) files.set(`proofs/${number}.ndjson`, ndjson(lines));
  for (const [number, lines] of draft.tags) files.set(`tags/${number}.ndjson`, ndjson(lines));
  if (draft.consistency.length > 0) files.set('checkpoints/consistency.ndjson', ndjson(draft.consistency));
  for (const [name, content] of draft.files) files.set(name, content);
  return files;
}

/** Signs and packs a draft. */
export function packed(draft: Draft, lie?: ManifestLie): Uint8Array {
  return storedZip(signedFiles(draft, lie));
}

/** The files of a package, with its signed manifest. */
export function signedFiles(draft: Draft, lie?: ManifestLie): ReadonlyMap<string, Uint8Array> {
  const files = contentsOf(draft);
  const { plan } = draft.ledger;
  const consents = draft.entries.filter(({ leaf }) => isConsent(leaf.event.type));
  const names = [...files.keys()];
  const manifest: JsonRecord = {
    format: 'consent-ledger-evidence',
    version: '1.0',
    origin: plan.origin,
    checkpoint: draft.size,
    exported_at: instant(draft.exportedAt),
    exported_by: 'operator@ledger.example',
    development: false,
    filter: draft.filter,
    salt: hex(saltOf(`consents-${draft.site}`)),
    counts: {
      entries: draft.entries.length,
      consents: consents.length,
      erased: consents.filter(({ erased }) => erased !== null).length,
      key_lost: consents.filter(({ keyLost }) => keyLost).length,
      attachments: names.filter((name) => name.startsWith('attachments/')).length,
      not_yet_stamped: 0,
    },
    complete: draft.complete.map((run) => ({ ...run })),
    files: Object.fromEntries(
      [...files]
        .filter(([name]) => !name.startsWith('attachments/'))
        .map(([name, content]) => [name, sha256Hex(content)]),
    ),
  };
  lie?.(manifest, draft);
  const bytes = utf8(canonical(manifest));
  const certifier = at(plan.signers(draft.size).toReversed(), 0);
  files.set('manifest.json', bytes);
  files.set('manifest.json.jws', utf8(manifestSignature(bytes, plan.keys.manifest, plan.origin, certifier)));
  return files;
}

/** The content of `entries.ndjson`. */
export function entriesFile({ entries }: Draft): Uint8Array {
  return ndjson(
    entries.map(({ entry, batch, index, disclosures, erased, keyLost, person }) => ({
      entry,
      batch,
      index,
      disclosures,
      ...(erased === null ? {} : { erased: { ...erased } }),
      ...(keyLost ? { key_lost: true } : {}),
      ...(person === undefined ? {} : { person: { ...person } }),
    })),
  );
}

function ndjson(lines: readonly Json[]): Uint8Array {
  return utf8(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
}
