import { crc32, deflateSync } from 'node:zlib';
import { DEMO_CONFIG } from './demo-texts.js';
import { SignedClient } from './signed-client.js';

const DECISIONS = ['accepted', 'rejected', 'partial', 'withdrawn'] as const;

/** Ids of the document versions for the consents, by language. */
export interface Versions {
  readonly cookiePolicy: Readonly<Record<Language, string>>;
  readonly consentForm: Readonly<Record<Language, string>>;
}
export type Language = 'en' | 'tr';
export const LANGUAGES: readonly Language[] = ['en', 'tr'];

/** The visitor whose data the demonstration erases. */
export const ERASED_VISITOR = 'visitor-0007';
export const ERASED_EMAIL = 'ayse.demo@example.org';

/** The n-th browser consent: the decisions in turn, and a tenth of them do-not-sell opt-outs. */
export function browserConsent(n: number, versions: Versions['cookiePolicy'], categories: readonly string[]): object {
  const language: Language = n % 2 === 0 ? 'en' : 'tr';
  const decision = DECISIONS[n % DECISIONS.length];
  const isOptOut = n % 10 === 9;
  return {
    consent_type: isOptOut ? 'do_not_sell_opt_out' : 'cookie',
    decision,
    document_version_id: versions[language],
    language,
    ...(isOptOut ? {} : { categories: Object.fromEntries(categories.map((key, i) => [key, isChosen(decision, i)])) }),
    idempotency_key: `demo-${n.toString().padStart(6, '0')}`,
    visitor_id: `visitor-${(n % 250).toString().padStart(4, '0')}`,
    visitor_country: language === 'tr' ? 'TR' : 'IE',
    compliance_framework: language === 'tr' ? 'kvkk' : 'gdpr',
    source: 'client',
    metadata: { page: `/articles/${n % 40}` },
    presentation: {
      layout: 'bar',
      layout_version: 3,
      theme: 'default',
      layer: decision === 'partial' ? 'settings' : 'first',
      language,
      colour_scheme: n % 3 === 0 ? 'dark' : 'light',
      size_class: n % 2 === 0 ? 'phone' : 'desktop',
      text_size: 'usual',
      controls: decision === 'partial' ? ['save', 'accept', 'reject'] : ['accept', 'reject', 'settings'],
      preselected: 'nothing',
      control: decision === 'partial' ? 'save' : decision === 'accepted' ? 'accept' : 'reject',
      elapsed_ms: 1200 + n,
      sdk: 'browser 0.1.0',
    },
  };
}

function isChosen(decision: (typeof DECISIONS)[number] | undefined, index: number): boolean {
  return decision === 'accepted' || index === 0 || (decision === 'partial' && index % 2 === 0);
}

/** A document with a drawn signature, which the tenant's backend confirms by an approval token. */
export function documentApproval(versions: Versions, approvalToken: string): object {
  const strokes = drawnStrokes();
  return {
    consent_type: 'document_approval',
    decision: 'accepted',
    document_version_id: versions.consentForm.en,
    language: 'en',
    idempotency_key: 'demo-approval-1',
    approval_token: approvalToken,
    signature_image: drawnSignature().toString('base64'),
    signature_mime_type: 'image/png',
    declaration_text: 'I have read the form and agree.',
    drawing_duration_ms: 2400,
    stroke_count: strokes.length,
    strokes_data: strokes,
    input_type: 'pen',
    screen_resolution: '1170x2532',
  };
}

const WIDTH = 120;
const HEIGHT = 40;

function drawnStrokes(): { x: number; y: number; t: number }[][] {
  const stroke = Array.from({ length: 60 }, (_, i) => ({
    x: i * 2,
    y: Math.round(20 + 15 * Math.sin(i / 5)),
    t: i * 40,
  }));
  return [stroke];
}

/** The strokes as a small PNG: eight-bit grey, no filter. */
function drawnSignature(): Buffer {
  const rows = Array.from({ length: HEIGHT }, () => Buffer.alloc(WIDTH + 1, 0xff).fill(0, 0, 1));
  for (const { x, y } of drawnStrokes().flat()) rows[y]?.writeUInt8(0, x + 1);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(WIDTH, 0);
  header.writeUInt32BE(HEIGHT, 4);
  header.writeUInt8(8, 8);
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    pngChunk('IHDR', header),
    pngChunk('IDAT', deflateSync(Buffer.concat(rows))),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

function pngChunk(type: string, content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), content]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, checksum]);
}

const CATEGORIES = DEMO_CONFIG.categories.map(({ key }) => key);
const CONSENTS = 300;
const BATCH = 100;

/**
 * Records decisions of an example site over HTTP, as a customer's backend would, so that the charts and lists of the
 * dashboard are not empty.
 * @returns the number of decisions
 */
export async function recordExample(
  url: string,
  keys: { readonly read: string; readonly write: string },
): Promise<number> {
  const client = new SignedClient(url, keys);
  const [en, tr] = await Promise.all([
    client.activeVersion('cookie-policy', 'en'),
    client.activeVersion('cookie-policy', 'tr'),
  ]);
  for (let from = 0; from < CONSENTS; from += BATCH)
    await client.recordBatch(
      Array.from({ length: BATCH }, (_, index) => browserConsent(from + index, { en, tr }, CATEGORIES)),
    );
  return CONSENTS;
}
