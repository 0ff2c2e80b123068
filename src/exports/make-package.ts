import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type ExportParts, type ExportRequest, type ExportResult, exportEvidence } from '../evidence/index.js';

/**
 * Makes an evidence package and writes it into a stream, which is ended with it. The exporter writes files only: until it is stored, the package lies in a
 * temporary folder that nobody else can read.
 * @throws what `exportEvidence` throws; what the stream was destroyed with
 */
export async function makePackage(
  parts: ExportParts,
  request: Omit<ExportRequest, 'output'>,
  destination: Writable,
): Promise<ExportResult> {
  const folder = await mkdtemp(join(tmpdir(), 'consent-ledger-export-'));
  try {
    const path = join(folder, 'package.zip');
    const result = await exportEvidence(parts, { ...request, output: path });
    await pipeline(createReadStream(path), destination);
    return result;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
