import { createWriteStream } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import yauzl from 'yauzl';
import yazl from 'yazl';
import { CONSENT_RECORDED } from '../../schemas/events/consent-recorded.js';
import { EntryLine, PACKAGE_FILES } from '../../schemas/evidence/package-lines.js';

/** The alteration, for comparison with the verifier's report. */
export interface Alteration {
  readonly eventId: string;
  readonly before: string;
  readonly after: string;
}

/** Reads every file of a small package. */
export async function readPackage(path: string): Promise<Map<string, Buffer>> {
  const zip = await yauzl.openPromise(path);
  const files = new Map<string, Buffer>();
  for await (const entry of zip.eachEntry()) {
    files.set(entry.fileName, await buffer(await zip.openReadStreamPromise(entry)));
  }
  return files;
}

/**
 * Copies a package and alters one character of one record: the last digit of a consent's
 * `created_at`.
 */
export async function alterOneCharacter(from: string, to: string): Promise<Alteration> {
  const files = await readPackage(from);
  const lines = files.get(PACKAGE_FILES.entries)?.toString('utf8').split('\n') ?? [];
  const target = lines.findIndex((line) => line.includes(CONSENT_RECORDED));
  const line = lines[target];
  if (line === undefined) throw new Error('the package contains no consent to alter');
  const changed = line.replace(
    /(\\"created_at\\":\\"[^"]*)(\d)(Z\\")/,
    (_, head: string, digit: string, tail: string) => {
      return `${head}${(Number(digit) + 1) % 10}${tail}`;
    },
  );
  lines[target] = changed;
  files.set(PACKAGE_FILES.entries, Buffer.from(lines.join('\n')));
  await writePackage(files, to);
  return { eventId: eventIdOf(line), before: createdAtOf(line), after: createdAtOf(changed) };
}

function eventIdOf(line: string): string {
  return /"event_id":"([^"]+)"/.exec(entryOf(line))?.[1] ?? '';
}

function createdAtOf(line: string): string {
  return /"created_at":"([^"]+)"/.exec(entryOf(line))?.[1] ?? '';
}

function entryOf(line: string): string {
  return EntryLine.parse(JSON.parse(line)).entry;
}

async function writePackage(files: ReadonlyMap<string, Buffer>, path: string): Promise<void> {
  const zip = new yazl.ZipFile();
  for (const [name, content] of files) zip.addBuffer(content, name);
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(path));
}
