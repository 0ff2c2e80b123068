import { createWriteStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { finished } from 'node:stream/promises';
import { type Command, Option } from 'commander';
import { counted } from '../../../schemas/text/counted.js';
import type { Installation } from '../../app/installation.js';
import { createYieldToAdmission } from '../../pipeline/admission/yield-to-admission.js';
import {
  type CheckedFile,
  ConfigurationChanged,
  checkFile,
  FileChanged,
  type Importing,
  type ImportTotals,
  InvalidMapping,
  importFile,
  OutboxFull,
  PRESETS,
  type PresetName,
  parseMapping,
  publishedVersions,
  UnreadableFile,
  waitForRoom,
} from '../../pipeline/importer/index.js';
import { changeAsOperator } from '../../platform/audit-log.js';
import { loadSite, UnknownSite } from '../../tenancy/directory/site-directory.js';
import { CommandError, EXIT, jsonCommand, several, uuid } from '../command/command.js';
import { type CliContext, print, withInstallation } from '../command/context.js';
import { withBar } from '../command/progress-bar.js';

interface Options {
  readonly json?: boolean;
  readonly site: string;
  readonly mapping?: string;
  readonly preset?: PresetName;
  readonly documentVersion?: string;
  readonly dryRun?: boolean;
  readonly rejects?: string;
  readonly skipWrongRows?: boolean;
  readonly allowUnused: readonly string[];
}

/** Number of wrong rows that the output names. The file of `--rejects` has all of them. */
const SHOWN_REJECTS = 20;
/** Maximum number of bytes of a mapping file. */
const MAX_MAPPING_BYTES = 1_048_576;

/** `admin import`: consents that a former tool recorded, as events of their own kind. */
export function importCommand(context: CliContext): Command {
  return jsonCommand('import', 'import consents that a former tool recorded (docs/import.md)')
    .argument('<file>', 'file of the tool: CSV, a JSON array, or JSON lines')
    .requiredOption('--site <id>', 'id of the site', uuid)
    .option('--mapping <file>', 'mapping from the columns of the file to the fields of a consent, as YAML or JSON')
    .addOption(
      new Option('--preset <tool>', 'a built-in mapping, parts of which --mapping can override').choices(
        Object.keys(PRESETS),
      ),
    )
    .option('--document-version <id>', 'the document version that the persons were shown, for all rows', uuid)
    .option('--dry-run', 'check all rows, and write nothing')
    .option('--rejects <file>', 'write the invalid rows to this file, one JSON object per line: row, column, reason')
    .option('--skip-wrong-rows', 'import the valid rows even if others are invalid')
    .option(
      '--allow-unused <item>',
      'import even if no row has this item of a list in the mapping; may be repeated',
      several,
      [],
    )
    .action(async (file: string, options: Options) => {
      const mapping = await readMapping(options);
      // The file for wrong rows is emptied before the first row is read.
      if (options.rejects !== undefined && (await isSameFile(options.rejects, file)))
        throw new CommandError('--rejects names the file that is imported. Name another file.', EXIT.usage);
      await withInstallation(context, async (installation) => {
        const importing = await openImport(installation, options.site, mapping);
        const rejects = openRejects(options.rejects);
        try {
          const checked = await withBar(context, 'checked [{bar}] {percentage}%', (onProgress) =>
            checkFile(file, importing, rejects.add, onProgress),
          );
          await rejects.close();
          const refused = refusal(checked, options);
          const totals =
            options.dryRun === true || refused !== null ? null : await write(context, installation, importing, checked);
          print(context, options, resultOf(checked, totals, rejects.shown), linesOf(checked, totals, rejects.shown));
          if (refused !== null) throw new CommandError(refused);
        } catch (error) {
          throw explained(error, file);
        }
      });
    });
}

async function isSameFile(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([one, other].map((path) => stat(path).catch(() => null)));
  return a != null && b != null && a.dev === b.dev && a.ino === b.ino;
}

async function readMapping({ mapping: path, preset, documentVersion }: Options): Promise<Importing['mapping']> {
  if (path === undefined && preset === undefined)
    throw new CommandError('Give --mapping, --preset, or both.', EXIT.usage);
  try {
    if (path !== undefined && (await stat(path)).size > MAX_MAPPING_BYTES)
      throw new InvalidMapping(`${path} has more than ${MAX_MAPPING_BYTES} bytes.`);
    const text = path === undefined ? null : await readFile(path, 'utf8');
    const version = documentVersion === undefined ? {} : { document_version_id: { value: documentVersion } };
    return parseMapping(text, { ...(preset === undefined ? {} : PRESETS[preset]), ...version });
  } catch (error) {
    throw explained(error, path ?? '');
  }
}

async function openImport(
  { adminPool, keyring }: Installation,
  siteId: string,
  mapping: Importing['mapping'],
): Promise<Importing> {
  const site = await loadSite(adminPool, keyring, siteId);
  if (site.config === null)
    throw new CommandError('The site has no published configuration yet. Publish one: its categories are needed.');
  const known = new Set(site.config.record.categories.map(({ key }) => key));
  const unknown = Object.keys(mapping.categories ?? {}).filter((key) => !known.has(key));
  if (unknown.length > 0)
    throw new CommandError(
      `The configuration of the site has no category ${unknown.join(', ')}. Name its categories in the mapping: ${[...known].join(', ')}.`,
    );
  const versions = await publishedVersions(adminPool, keyring, siteId);
  return { site, config: site.config, versions, mapping, clock: Date.now };
}

async function write(
  context: CliContext,
  { adminPool, workerPool, keyring, random, config }: Installation,
  importing: Importing,
  checked: CheckedFile,
): Promise<ImportTotals> {
  const { site, mapping } = importing;
  await changeAsOperator(adminPool, async () => ({
    result: null,
    tenantId: site.tenantId,
    action: 'consent.import',
    subject: { kind: 'site', id: site.siteId },
    details: {
      tool: mapping.tool,
      file_sha256: checked.fileSha256,
      mapping_sha256: checked.mappingSha256,
      rows: checked.rows - checked.wrongRows,
    },
  }));
  context.lowerPriority();
  const yieldToAdmission = createYieldToAdmission({ db: adminPool });
  return await withBar(context, 'imported [{bar}] {value} of {total} rows', (onProgress) =>
    importFile(checked, importing, {
      db: adminPool,
      random,
      reload: () => loadSite(adminPool, keyring, site.siteId),
      beforeBlock: async () => {
        await yieldToAdmission();
        await waitForRoom(workerPool, config.outbox.maxRows);
      },
      onRows: (done) => onProgress(done, checked.rows),
    }),
  );
}

type Rejected = Parameters<Parameters<typeof checkFile>[2]>[0];

/** Collects the problems of wrong rows. The first ones are shown; all go into the file. */
function openRejects(path: string | undefined) {
  const shown: Rejected[] = [];
  const file = path === undefined ? null : createWriteStream(path, { mode: 0o600 });
  const failure = file === null ? null : finished(file);
  // `close`, and each row after the failure, will throw it.
  failure?.catch(() => undefined);
  return {
    shown,
    add: async (rejected: Rejected): Promise<void> => {
      if (shown.length < SHOWN_REJECTS) shown.push(rejected);
      if (file === null || file.write(`${JSON.stringify(rejected)}\n`)) return;
      await Promise.race([new Promise<void>((resolve) => file.once('drain', resolve)), failure]);
    },
    close: async (): Promise<void> => {
      file?.end();
      await failure;
    },
  };
}

function resultOf(checked: CheckedFile, totals: ImportTotals | null, shown: readonly Rejected[]) {
  return {
    file_sha256: checked.fileSha256,
    mapping_sha256: checked.mappingSha256,
    rows: checked.rows,
    wrong_rows: checked.wrongRows,
    imported: totals?.imported ?? 0,
    imported_before: totals?.known ?? null,
    decisions: checked.decisions,
    categories: checked.categories,
    unused_items: checked.unusedItems,
    first_wrong: shown,
  };
}

function linesOf(checked: CheckedFile, totals: ImportTotals | null, shown: readonly Rejected[]): readonly string[] {
  const wrong = shown.map(({ row, column, reason }) => `  row ${row}${column === '' ? '' : `, ${column}`}: ${reason}`);
  return [
    `${counted(checked.rows, 'row')} checked, ${checked.wrongRows} of them wrong. SHA-256 of the file: ${checked.fileSha256}`,
    ...wrong,
    `Decisions of the right rows: ${listed(Object.entries(checked.decisions).map(([decision, rows]) => `${decision} ${rows}`))}`,
    ...Object.entries(checked.categories).map(
      ([key, { accepted, refused }]) => `  ${key}: accepted ${accepted}, refused ${refused}`,
    ),
    ...(totals === null
      ? ['Nothing was imported.']
      : [
          totals.imported === 0 && totals.known > 0
            ? `Nothing was imported: ${counted(totals.known, 'row')} were imported before.`
            : `Imported: ${counted(totals.imported, 'consent')}. Imported before: ${totals.known}.`,
        ]),
  ];
}

function listed(texts: readonly string[]): string {
  return texts.length === 0 ? 'none' : texts.join(', ');
}

/** Returns why nothing is imported, even in a dry run, or null if the file may be imported. */
function refusal({ wrongRows, unusedItems }: CheckedFile, { skipWrongRows, allowUnused }: Options): string | null {
  const unused = unusedItems.filter((item) => !allowUnused.includes(item));
  const reasons = [
    ...(wrongRows > 0 && skipWrongRows !== true
      ? [
          `${counted(wrongRows, 'row')} wrong: nothing was imported. Correct the file or the mapping, or give --skip-wrong-rows. --rejects lists all of them.`,
        ]
      : []),
    ...(unused.length > 0
      ? [
          `No row has ${unused.map((item) => `“${item}”`).join(', ')}: nothing was imported. Every person would have refused it. Compare the mapping with the file, or give --allow-unused for each.`,
        ]
      : []),
  ];
  return reasons.length === 0 ? null : reasons.join(' ');
}

function explained(error: unknown, path: string): unknown {
  if (error instanceof InvalidMapping || error instanceof UnreadableFile || error instanceof UnknownSite)
    return new CommandError(error.message);
  if (error instanceof FileChanged || error instanceof ConfigurationChanged || error instanceof OutboxFull)
    return new CommandError(`${error.message} Rows that were written stay. Run the command again: it continues.`);
  const code = error instanceof Error && 'code' in error ? error.code : null;
  if (code === 'ENOENT' || code === 'EACCES' || code === 'EISDIR')
    return new CommandError(`${path} cannot be read (${code}).`);
  return error;
}
