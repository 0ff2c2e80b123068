import * as z from 'zod';
import { IabSignals } from '../iab/iab-signals.js';
import { AttachmentReference, type Disclosure } from './disclosure.js';
import { Presentation } from './presentation.js';

const Text = z.string();
/**
 * Maximum number of characters (code points) of a `visitor_id`. Verifiers normalise the value, which takes time
 * quadratic in the number of consecutive combining marks.
 */
export const MAX_VISITOR_ID = 100;
const VisitorId = Text.max(MAX_VISITOR_ID);
const Values = z.record(z.string(), z.unknown());

/**
 * The personal values that a consent can have: the closed list of the names under which a record
 * commits to them, each with the type of its value. Sorted by name.
 */
export const DISCLOSED_VALUES = {
  custom_document_content: AttachmentReference.describe('Document that was made for this person'),
  custom_document_mime_type: Text.describe('Media type that was sent with this document'),
  declaration_text: Text.describe('Declaration that the person confirmed'),
  drawing_duration_ms: z.number().describe('How long the person drew the signature, in milliseconds'),
  extra_fields: Values.describe('Values of further form fields'),
  iab: IabSignals.describe('Strings of IAB that the page gave to advertisers'),
  idempotency_key: Text.describe('Key by which the sender avoids recording one consent twice'),
  input_type: Text.describe('How the person drew the signature'),
  ip_address: Text.describe('IP address of the person'),
  metadata: Values.describe('Further values'),
  otp_reference: Text.describe('Reference of a one-time password check at the backend'),
  otp_verified: z.boolean().describe('Whether the backend verified a one-time password of the person'),
  presentation: Presentation.describe('How the question was shown'),
  presentation_screenshot: AttachmentReference.describe('Picture of what was shown'),
  screen_resolution: Text.describe('Screen resolution'),
  signature_image: AttachmentReference.describe('Drawn signature'),
  signature_mime_type: Text.describe('Media type that was sent with the signature'),
  signer_email: Text.describe('E-mail address of the person who signed'),
  signer_id_number: Text.describe('Identity document number of the person who signed'),
  signer_name: Text.describe('Name of the person who signed'),
  signer_phone: Text.describe('Telephone number of the person who signed'),
  source: Text.describe('Where the person was asked'),
  source_record_id: Text.describe('Id of the record at the tool that it was imported from'),
  stroke_count: z.number().describe('Number of strokes of the drawn signature'),
  strokes_data: z.unknown().describe('Strokes of the drawn signature'),
  user_agent: Text.describe('User agent of the person'),
  visitor_country: Text.describe('Country of the person (ISO 3166-1 alpha-2)'),
  visitor_id: VisitorId.describe('Identifier of the person at the site'),
  visitor_region: Text.describe('Region of the person'),
} as const satisfies Readonly<Record<string, z.ZodType>>;

export type DisclosureName = keyof typeof DISCLOSED_VALUES;

/** Names of the values whose content is a file of its own; their disclosures refer to it. */
export const ATTACHMENT_NAMES = [
  'signature_image',
  'custom_document_content',
  'presentation_screenshot',
] as const satisfies DisclosureName[];

export type AttachmentName = (typeof ATTACHMENT_NAMES)[number];

/** Whether the disclosures of this name refer to a file. */
export function isAttachmentName(name: string): name is AttachmentName {
  return ATTACHMENT_NAMES.some((attachment) => attachment === name);
}

/** The names of the values, sorted by UTF-16 code units. */
export const DISCLOSURE_NAMES = namesOf(DISCLOSED_VALUES);

function namesOf<T extends Readonly<Record<string, unknown>>>(values: T): [keyof T & string, ...(keyof T & string)[]] {
  const names = Object.keys(values).filter((name): name is keyof T & string => Object.hasOwn(values, name));
  const [first, ...rest] = names.sort();
  if (first === undefined) throw new RangeError('a list of names is empty');
  return [first, ...rest];
}

const NAMES: ReadonlySet<string> = new Set(DISCLOSURE_NAMES);

/** Whether a record can commit to a value of this name. */
export function isDisclosureName(name: string): name is DisclosureName {
  return NAMES.has(name);
}

/**
 * Returns the person that disclosures name: the value of `visitor_id` in Unicode normalization form C, in which values
 * are compared, or null if it is not disclosed, is empty (the record then belongs to nobody), or is a value that no
 * record can have.
 */
export function namedVisitor(disclosures: readonly Disclosure[]): string | null {
  return normalVisitor(disclosures.find(({ name }) => name === 'visitor_id')?.value);
}

/**
 * A value of `visitor_id` in Unicode normalization form C.
 * @returns null if it is empty, or a value that no record can have, which could take long to normalise
 */
export function normalVisitor(value: unknown): string | null {
  const read = VisitorId.safeParse(value);
  return read.success && read.data !== '' ? read.data.normalize('NFC') : null;
}
