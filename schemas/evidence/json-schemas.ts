import * as z from 'zod';
import { SEALED_RECORD_SCHEMAS } from '../events/sealed-event.js';
import { BatchHeader } from './batch-header.js';
import { Contradiction } from './contradiction.js';
import { DISCLOSED_VALUES } from './disclosed-values.js';
import { Entry } from './entry.js';
import { Manifest, ManifestSignatureHeader } from './manifest.js';
import { BatchLine, ConsistencyLine, EntryLine, ProofLine, TagLine } from './package-lines.js';
import { SignedPromise } from './promise.js';
import { Receipt } from './receipt.js';

/** Every JSON of a package, a receipt, a promise and a contradiction proof, by the name of its definition. */
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
  ...SEALED_RECORD_SCHEMAS,
  disclosed_values: z.strictObject(DISCLOSED_VALUES).partial(),
  receipt: Receipt,
  promise: SignedPromise,
  contradiction: Contradiction,
};

/**
 * The JSON Schema (draft 2020-12) of every JSON of the evidence, as definitions of one document. It only describes the
 * form; docs/evidence-format.md has the rules that a schema cannot express.
 */
export function evidenceJsonSchema(): Record<string, unknown> {
  const definitions: Record<string, unknown> = {};
  for (const [name, shape] of Object.entries(SHAPES)) {
    // The members of a record depend on its type, and hashes are text before they are read.
    const {
      $schema: _,
      $defs: shared = {},
      ...schema
    } = z.toJSONSchema(shape, { io: 'input', unrepresentable: 'any' });
    // A reference is resolved from the root of the document.
    Object.assign(definitions, shared, { [name]: schema });
  }
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'JSON of evidence packages, receipts, promises and contradiction proofs (consent-ledger-evidence 1.0)',
    $defs: definitions,
  };
}
