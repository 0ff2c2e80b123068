import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { toHex } from '../../../schemas/crypto/encoding.js';
import { OPERATOR } from '../../../schemas/events/consent-imported.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { RandomPool } from '../../platform/keys/index.js';
import type { SiteContext } from '../../tenancy/directory/site-context.js';
import type { SiteConfig } from '../admission/evaluate.js';
import {
  itemsOfLists,
  listChoices,
  type MapContext,
  type MappedRow,
  mapRow,
  type RowProblem,
  type StatedConsent,
  wantedBy,
} from './map-row.js';
import { columnsOf, type Mapping, mappingDigest } from './mapping.js';
import { readRows, type SourceRow } from './read-rows.js';
import type { ImportVersion } from './versions.js';
import {
  importedBefore,
  type PreparedRow,
  prepareImport,
  rowDigest,
  SiteChanged,
  writeImports,
} from './write-imports.js';

/** Number of rows per transaction, so that it holds the lock on the site for only a few milliseconds. */
const BLOCK_ROWS = 200;

/** A row that cannot be imported. */
export interface RejectedRow extends RowProblem {
  readonly row: number;
}

/** Result of the first pass over a file. */
export interface CheckedFile {
  readonly path: string;
  readonly fileSha256: string;
  readonly mappingSha256: string;
  readonly rows: number;
  readonly wrongRows: number;
  /** Number of valid rows by decision. */
  readonly decisions: Readonly<Record<string, number>>;
  /** Numbers of valid rows that accept and that refuse each category. */
  readonly categories: Readonly<Record<string, { readonly accepted: number; readonly refused: number }>>;
  /** Items of lists that the mapping names but no row has. */
  readonly unusedItems: readonly string[];
  /**
   * Digest of the rows up to the end of each block, from which the second pass recognises that the file has not
   * changed.
   */
  readonly blocks: readonly string[];
}

export interface ImportTotals {
  readonly imported: number;
  /** Number of rows that had been imported before. */
  readonly known: number;
}

/** The file changed after it was checked. What was written so far stays. */
export class FileChanged extends Error {
  override readonly name = 'FileChanged';
}

/** The configuration changed after the rows were checked. What was written so far stays. */
export class ConfigurationChanged extends Error {
  override readonly name = 'ConfigurationChanged';
}

/** Everything that rows are read with. */
export interface Importing {
  readonly site: SiteContext;
  readonly config: SiteConfig;
  readonly versions: ReadonlyMap<string, ImportVersion>;
  readonly mapping: Mapping;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/**
 * Reads every row of a file without writing anything.
 * @param onRejected receives each problem of each wrong row
 * @param onBytes receives how many bytes were read, and the total
 * @throws UnreadableFile; errors of the file system
 */
export async function checkFile(
  path: string,
  importing: Omit<Importing, 'site'>,
  onRejected: (row: RejectedRow) => Promise<void>,
  onBytes: (done: number, total: number) => void,
): Promise<CheckedFile> {
  const { size } = await stat(path);
  const file = createHash('sha256');
  let bytes = 0;
  let rows = 0;
  let wrongRows = 0;
  const digests = new BlockDigests();
  const used = new Set<string>();
  const context = { ...contextOf(importing), onItem: (item: string) => used.add(item) };
  const totals = new DecisionTotals();
  const onPiece = (piece: Uint8Array): void => {
    file.update(piece);
    bytes += piece.length;
  };
  // A column name that the file does not have would give everyone the same answer.
  const source = readRows(path, importing.mapping, onPiece, columnsOf(importing.mapping));
  for await (const read of source) {
    rows += 1;
    digests.add(read);
    const mapped = mappedRow(read, context);
    const problems = mapped.isRight ? [] : mapped.problems;
    if (mapped.isRight) totals.add(mapped.stated);
    if (problems.length > 0) wrongRows += 1;
    for (const problem of problems) await onRejected({ row: read.row, ...problem });
    if (rows % BLOCK_ROWS === 0) onBytes(bytes, size);
  }
  onBytes(bytes, size);
  return {
    path,
    fileSha256: file.digest('hex'),
    mappingSha256: mappingDigest(importing.mapping),
    rows,
    wrongRows,
    ...totals.result(),
    unusedItems: [...new Set(listChoices(importing.mapping).map(wantedBy))].filter((item) => !used.has(item)),
    blocks: digests.finish(),
  };
}

export interface WriteOptions {
  /** Connections in the role `consent_ledger_admin`. */
  readonly db: Queryable;
  readonly random: RandomPool;
  /** Reads the site again, after a change of it. */
  readonly reload: () => Promise<SiteContext>;
  /** Called before each block, to wait while the service has more urgent work. */
  readonly beforeBlock: () => Promise<void>;
  readonly onRows: (done: number) => void;
}

/**
 * Imports the valid rows of a checked file. It may be interrupted at any time: each block is written completely or not
 * at all, and rows that were already imported are skipped.
 * @throws FileChanged, ConfigurationChanged, UnreadableFile; errors of the file system and of the database
 */
export async function importFile(
  checked: CheckedFile,
  importing: Importing,
  options: WriteOptions,
): Promise<ImportTotals> {
  const totals = { imported: 0, known: 0 };
  const digests = new BlockDigests();
  let block: SourceRow[] = [];
  let done = 0;
  const write = async (): Promise<void> => {
    if (digests.last !== checked.blocks[digests.count - 1])
      throw new FileChanged(`${checked.path} is not the file any more that was checked.`);
    await options.beforeBlock();
    const { imported, known } = await writeBlock(block, checked, importing, options);
    totals.imported += imported;
    totals.known += known;
    done += block.length;
    block = [];
    options.onRows(done);
  };
  for await (const row of readRows(checked.path, importing.mapping, () => undefined)) {
    block.push(row);
    digests.add(row);
    if (block.length === BLOCK_ROWS) await write();
  }
  digests.finish();
  if (block.length > 0) await write();
  if (done !== checked.rows) throw new FileChanged(`${checked.path} has not as many rows any more as were checked.`);
  return totals;
}

async function writeBlock(
  block: readonly SourceRow[],
  { fileSha256, mappingSha256 }: CheckedFile,
  importing: Importing,
  options: WriteOptions,
): Promise<ImportTotals> {
  const { site, config, mapping, clock } = importing;
  const { db, random } = options;
  const context = contextOf(importing);
  const now = clock();
  const rows = block.flatMap(({ row, values }) => {
    const mapped = values === null ? null : mapRow(values, context);
    if (mapped === null || !mapped.isRight) return [];
    const origin = {
      tool: mapping.tool,
      file_sha256: fileSha256,
      row,
      mapping_sha256: mappingSha256,
      imported_by: OPERATOR,
    } as const;
    return [{ stated: mapped.stated, origin, digest: rowDigest(site, mapped.stated, origin) }];
  });
  const known = await importedBefore(
    db,
    site.siteId,
    rows.map(({ digest }) => digest),
  );
  const prepared = rows
    .filter(({ digest }) => !known.has(toHex(digest)))
    .map(({ stated, origin, digest }) => ({
      digest,
      record: prepareImport(stated, { site, config, origin, now }, random),
    }));
  const imported = await writeUnchanged(prepared, importing, options);
  return { imported, known: rows.length - imported };
}

/**
 * Writes rows, and retries if the site changed meanwhile. A new key or plan does not matter, but a new configuration
 * does.
 */
async function writeUnchanged(
  prepared: readonly PreparedRow[],
  { site, config }: Importing,
  { db, reload }: WriteOptions,
): Promise<number> {
  for (let current = site; ; ) {
    try {
      return await writeImports(db, current, prepared);
    } catch (error) {
      if (!(error instanceof SiteChanged)) throw error;
      current = await reload();
      if (current.config?.sha256 !== config.sha256)
        throw new ConfigurationChanged('The configuration of the site has changed during the import.');
    }
  }
}

function contextOf({ mapping, config, versions, clock }: Omit<Importing, 'site'>): MapContext {
  return { mapping, config, versions, now: clock(), items: itemsOfLists(mapping) };
}

function mappedRow({ values, problem }: SourceRow, context: MapContext): MappedRow {
  if (values !== null) return mapRow(values, context);
  return { isRight: false, problems: [{ column: '', reason: problem ?? 'cannot be read' }] };
}

/** Counts what the valid rows say, so that a mapping that misreads the file is noticed before anything is sealed. */
class DecisionTotals {
  readonly #decisions = new Map<string, number>();
  readonly #categories = new Map<string, { accepted: number; refused: number }>();

  add({ consent: { request } }: StatedConsent): void {
    this.#decisions.set(request.decision, (this.#decisions.get(request.decision) ?? 0) + 1);
    for (const [key, is] of Object.entries(request.categories ?? {})) {
      const { accepted, refused } = this.#categories.get(key) ?? { accepted: 0, refused: 0 };
      this.#categories.set(key, is ? { accepted: accepted + 1, refused } : { accepted, refused: refused + 1 });
    }
  }

  result(): Pick<CheckedFile, 'decisions' | 'categories'> {
    return { decisions: Object.fromEntries(this.#decisions), categories: Object.fromEntries(this.#categories) };
  }
}

/** Digests of the rows up to the end of each block. */
class BlockDigests {
  readonly #hash = createHash('sha256');
  readonly #digests: string[] = [];
  #rows = 0;

  get count(): number {
    return this.#digests.length;
  }

  get last(): string | undefined {
    return this.#digests.at(-1);
  }

  add({ values, problem }: SourceRow): void {
    this.#hash.update(JSON.stringify([values, problem]));
    this.#rows += 1;
    if (this.#rows % BLOCK_ROWS === 0) this.#digests.push(this.#hash.copy().digest('hex'));
  }

  finish(): readonly string[] {
    if (this.#rows % BLOCK_ROWS > 0) this.#digests.push(this.#hash.copy().digest('hex'));
    return this.#digests;
  }
}
