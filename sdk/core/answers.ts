import type { ActiveDocument, Acceptance as RecordedConsent, SiteConfiguration } from '../shared/types.js';
import { isFlag, isNumber, isText, isUnchecked, listOf, nullable, objectOf, optional, recordOf } from './guards.js';

type Category = SiteConfiguration['categories'][number];
type Cookie = Category['cookies'][number];
type Document = SiteConfiguration['documents'][number];

/** The part of a document's summary that the SDK reads. */
export type KnownDocument = Pick<Document, 'slug' | 'kind' | 'requires_approval_token'> & {
  readonly version: Pick<Document['version'], 'id' | 'language' | 'title' | 'media_type'>;
};

/** The part of a declared cookie, or of another thing that is kept in a browser, that the SDK reads. */
export type KnownCookie = Pick<Cookie, 'name' | 'provider' | 'duration_seconds' | 'purpose'> & {
  readonly party: string;
  /** Key of the service that keeps it. Absent if it belongs to no service. */
  readonly service?: string | undefined;
};

/** A service of a category, for example one whose videos a page shows. Its key is unique in the site. */
export interface KnownService {
  readonly key: string;
  readonly name: string;
  readonly recipient: string;
  readonly policy_url: string | null;
}

/** The part of a category that the SDK reads. */
export type KnownCategory = Pick<Category, 'key' | 'required' | 'title' | 'purpose' | 'recipients'> & {
  /**
   * The rule of the place: it runs until the visitor opts out (`opt_out`) or objects (`exempt`). Absent if it waits for
   * consent.
   */
  readonly rule?: string | undefined;
  /** Why an exempt category runs without consent, in words. */
  readonly ground?: string | undefined;
  readonly cookies: readonly KnownCookie[];
  /** Absent from services of an earlier version. */
  readonly services?: readonly KnownService[] | undefined;
};

/**
 * The part of the banner configuration that the SDK reads. Values of lists that may grow (laws,
 * kinds) are texts, so that a newer service does not break older pages.
 */
export type Configuration = Pick<
  SiteConfiguration,
  | 'language'
  | 'languages'
  | 'direction'
  | 'validity_days'
  | 'refusal_days'
  | 'banner'
  | 'labels'
  | 'withdrawal'
  | 'controller'
  | 'warnings'
> & {
  /** The look of the banner that the site states, if any. It is not checked. */
  readonly appearance?: unknown;
  /** Whether the choices of people who are signed in hold on all their devices, and on which sites. */
  readonly accounts?: unknown;
  /** Signals of IAB that the site sends. The file that sends them checks these settings. */
  readonly iab?: unknown;
  readonly categories: readonly KnownCategory[];
  /** Whether the visitor answers for each service. */
  readonly service_switches?: boolean | undefined;
  readonly documents: readonly KnownDocument[];
  /** Id of the site's rule for the visitor's place. Absent if none matches. */
  readonly rule_id?: string | undefined;
  readonly region: {
    readonly country: string | null;
    readonly compliance_framework: string | null;
    /** Whether Global Privacy Control is itself a request to opt out in this place, by law or by the site's rule. */
    readonly signal_is_request: boolean;
  };
};

const isVersion = objectOf<KnownDocument['version']>({
  id: isText,
  language: isText,
  title: isText,
  media_type: isText,
});
const isDocument = objectOf<KnownDocument>({
  slug: isText,
  kind: isText,
  requires_approval_token: isFlag,
  version: isVersion,
});

/** The text of a control and its language. */
export type Label = SiteConfiguration['labels'][string];

const isDirection = (value: unknown): value is Configuration['direction'] => value === 'ltr' || value === 'rtl';

const isWarnings = optional(listOf(objectOf<{ field: string; message: string }>({ field: isText, message: isText })));

export const isConfiguration = objectOf<Configuration>({
  // A newer service may know looks that this SDK does not know. The banner then has the SDK's own look.
  appearance: isUnchecked,
  iab: isUnchecked,
  language: isText,
  languages: listOf(isText),
  validity_days: nullable(isNumber),
  refusal_days: nullable(isNumber),
  rule_id: optional(isText),
  direction: isDirection,
  banner: recordOf(isText),
  labels: recordOf(objectOf<Label>({ text: isText, language: isText })),
  withdrawal: nullable(isText),
  controller: objectOf<Configuration['controller']>({ legal_name: isText, contact: isText }),
  categories: listOf(
    objectOf<KnownCategory>({
      key: isText,
      required: isFlag,
      rule: optional(isText),
      ground: optional(isText),
      title: isText,
      purpose: isText,
      recipients: listOf(isText),
      cookies: listOf(
        objectOf<KnownCookie>({
          name: isText,
          provider: isText,
          party: isText,
          duration_seconds: nullable(isNumber),
          purpose: isText,
          service: optional(isText),
        }),
      ),
      services: optional(
        listOf(objectOf<KnownService>({ key: isText, name: isText, recipient: isText, policy_url: nullable(isText) })),
      ),
    }),
  ),
  service_switches: optional(isFlag),
  // The file that reads accounts checks it.
  accounts: isUnchecked,
  documents: listOf(isDocument),
  region: objectOf<Configuration['region']>({
    country: nullable(isText),
    compliance_framework: nullable(isText),
    signal_is_request: isFlag,
  }),
  warnings: isWarnings,
});

/** A document with its text, which a page shows before it asks for an approval. */
export type ShownDocument = KnownDocument & Pick<ActiveDocument, 'content'>;
export const isShownDocument = objectOf<ShownDocument>({
  slug: isText,
  kind: isText,
  requires_approval_token: isFlag,
  version: isVersion,
  content: isText,
});

/** The part of the service's response that the SDK reads and stores. A newer service may send more. */
export type Acceptance = Pick<
  RecordedConsent,
  'consent_token' | 'proof_hash' | 'created_at' | 'duplicate' | 'promise' | 'warnings'
>;
/** The SDK stores it unchanged; it is checked when it is compared with a package (`consent-verify promise`). */
const isPromise = (value: unknown): value is NonNullable<Acceptance['promise']> => typeof value === 'object';
export const isAcceptance = objectOf<Acceptance>({
  consent_token: isText,
  proof_hash: isText,
  created_at: isText,
  duplicate: isFlag,
  promise: nullable(isPromise),
  warnings: isWarnings,
});
