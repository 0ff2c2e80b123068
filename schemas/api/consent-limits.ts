import { MAX_VISITOR_ID } from '../evidence/disclosed-values.js';

/**
 * Sizes that a consent may have. Bytes are of the decoded content, or of the UTF-8 of the JSON
 * text; lengths are in characters (code points), as JSON Schema counts them.
 */
export const CONSENT_LIMITS = {
  batchItems: 100,
  consentType: 50,
  visitorId: MAX_VISITOR_ID,
  visitorRegion: 10,
  visitorCountry: 2,
  source: 20,
  metadataKeys: 30,
  metadataBytes: 16_384,
  extraFieldsKeys: 30,
  extraFieldsBytes: 16_384,
  extraFieldName: 100,
  signatureImageBytes: 262_144,
  strokesBytes: 65_536,
  customDocumentBytes: 1_048_576,
  screenshotBytes: 524_288,
  declarationText: 10_000,
  signerName: 200,
  signerEmail: 254,
  signerPhone: 40,
  signerIdNumber: 64,
  inputType: 20,
  screenResolution: 20,
  otpReference: 200,
  userAgent: 1_024,
  drawingDurationMs: 86_400_000,
  strokeCount: 100_000,
  approvalTokenSeconds: { least: 30, most: 3_600, default: 600 },
  personTokenSeconds: 900,
  /** Characters of a one-time token that are read. */
  oneTimeToken: 200,
} as const;

/**
 * Number of bytes of a single consent apart from its large contents: metadata, strokes, declaration, and the
 * surrounding JSON.
 */
const OTHER_CONTENT_BYTES = 262_144;

/** Base64 of a content, including a `data:` prefix. */
const asBase64 = (bytes: number): number => Math.ceil(bytes / 3) * 4 + 100;

/** The largest body of a request with one consent. */
export const SINGLE_BODY_BYTES =
  asBase64(CONSENT_LIMITS.signatureImageBytes) +
  asBase64(CONSENT_LIMITS.customDocumentBytes) +
  asBase64(CONSENT_LIMITS.screenshotBytes) +
  OTHER_CONTENT_BYTES;

/**
 * The largest body of a batch, unless the operator configures another limit: enough for 100 consents with full
 * metadata, and more.
 */
export const DEFAULT_BATCH_BODY_BYTES = 8 * 1024 * 1024;

/** The largest body of a batch that can be configured: 100 consents at their largest. */
export const BATCH_BODY_BYTES = CONSENT_LIMITS.batchItems * SINGLE_BODY_BYTES;

/** The largest body of a request for a one-time token. */
export const APPROVAL_TOKEN_BODY_BYTES = 16_384;
