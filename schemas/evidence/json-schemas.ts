import { z } from 'zod';
import { SEALED_RECORD_SCHEMAS } from '../events/sealed-event.js';
import { BatchHeader } from './batch-header.js';
import { DISCLOSED_VALUES } from './disclosed-values.js';
import { Entry } from './entry.js';
import { Manifest, ManifestSignatureHeader } from './manifest.js';
import { BatchLine, BridgeLine, ConsistencyLine, EntryLine, ProofLine, TagLine } from './package-lines.js';

/** Every JSON of a package, by the name of its definition in the published schema. */
const SHAPES: Readonly<Record<string, z.ZodType>> = {
  manifest: Manifest,
  manifest_signature_header: ManifestSignatureHeader,
  entry_line: EntryLine,
  entry: Entry,
  batch_line: BatchLine,
  batch_header: BatchHeader,
  proof_line: ProofLine,
  tag_line: TagLine,
  consistency_line: ConsistencyLine,
  bridge_line: BridgeLine,
  ...SEALED_RECORD_SCHEMAS,
  disclosed_values: z.strictObject(DISCLOSED_VALUES).partial(),
};

/**
 * The JSON Schema (draft 2020-12) of every JSON in an evidence package, as definitions of one document.
 * It states form alone: docs/evidence-format.md has the rules that a schema cannot express.
 */
export function evidenceJsonSchema(): Record<string, unknown> {
  const definitions = Object.fromEntries(
    Object.entries(SHAPES).map(([name, shape]) => {
      // The members of a record depend on its type, and hashes are text before they are read.
      const { $schema: _, ...schema } = z.toJSONSchema(shape, { io: 'input', unrepresentable: 'any' });
      return [name, schema];
    }),
  );
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'JSON of an evidence package (consent-ledger-evidence 1.0)',
    $defs: definitions,
  };
}
