import * as z from 'zod';
import { Count, Instant, Sha256Hex, Uuid } from '../evidence/primitives.js';
import { ConsentCategory } from './site-config.js';

export const SITE_SCANNED = 'SiteScanned.v1';

/** Kinds of storage in which a page keeps names, other than cookies. */
export const STORAGE_KINDS = ['local_storage', 'session_storage', 'indexed_db'] as const;
/** Choice at the start of a visit: none, or the refusal of every optional category. */
export const SCAN_CHOICES = ['none', 'refused'] as const;
export const SCAN_PROBLEMS = ['undeclared', 'before_choice', 'after_refusal'] as const;
export const SCAN_METHODS = ['browser', 'http'] as const;

/** Maximum length of the name of a cookie or storage entry, in characters. */
export const MAX_SCANNED_NAME = 200;
/** Maximum number of items of each list in a record. */
export const MAX_SCANNED_ITEMS = 100;
/** Largest lifetime that a record states, in seconds. A longer lifetime is stated as this value. */
export const MAX_SCANNED_SECONDS = 1_000_000_000;

const Name = z.string().max(MAX_SCANNED_NAME);
const Host = z.string().max(253);
const Category = ConsentCategory.shape.key.nullable();
/** Address without query, fragment and path parameters, because these can name a person. */
const PageAddress = z
  .string()
  .regex(/^https?:\/\/[^?#;@]+$/)
  .max(2000);

function list<T extends z.ZodType>(item: T) {
  return z.strictObject({
    items: z.array(item).max(MAX_SCANNED_ITEMS),
    /** Number of further findings that the record omits. */
    left_out: Count,
  });
}

const Visit = z.strictObject({
  choice: z.enum(SCAN_CHOICES),
  final_url: PageAddress,
  status: z.int().min(0).max(999),
  /** False if the page did not finish loading in time, or a limit of the scan cut something off. */
  is_complete: z.boolean(),
  cookies: list(
    z.strictObject({
      name: Name,
      domain: Host,
      party: z.enum(['first', 'third']),
      /** Null if it is kept until the browser is closed. */
      duration_seconds: z.int().min(0).max(MAX_SCANNED_SECONDS).nullable(),
      http_only: z.boolean(),
      secure: z.boolean(),
      /** Key of the category that declares the name, or null if none does. */
      category: Category,
    }),
  ),
  storage: list(z.strictObject({ kind: z.enum(STORAGE_KINDS), name: Name, category: Category })),
  third_party_hosts: list(Host),
});

/**
 * Findings of a scan of a page of a site: evidence of the state of the site. The record has names
 * and hosts, and never a value of a cookie or of a storage.
 */
export const SiteScannedRecord = z
  .strictObject({
    v: z.literal(1),
    event_id: Uuid,
    site_id: Uuid,
    created_at: Instant,
    url: PageAddress,
    /** `browser`: scripts ran. `http`: only the page was requested. */
    method: z.enum(SCAN_METHODS),
    /** The page was opened with Global Privacy Control. Absent if it was not. */
    signal: z.literal(true).exactOptional(),
    started_at: Instant,
    ended_at: Instant,
    /** SHA-256 of the configuration that the page was compared with, or null if none was published. */
    site_config_hash: Sha256Hex.nullable(),
    /** Before any choice and, if the site has a banner, after the refusal of every optional category. */
    visits: z.array(Visit).min(1).max(SCAN_CHOICES.length),
    findings: list(
      z.strictObject({
        problem: z.enum(SCAN_PROBLEMS),
        kind: z.enum(['cookie', ...STORAGE_KINDS]),
        name: Name,
        /** Domain of a cookie, or null for other kinds. */
        domain: Host.nullable(),
        category: Category,
      }),
    ),
  })
  .superRefine(({ started_at: start, ended_at: end, visits }, context) => {
    if (end < start) context.addIssue({ code: 'custom', path: ['ended_at'], message: 'must not be before started_at' });
    for (const [index, { choice }] of visits.entries())
      if (choice !== SCAN_CHOICES[index])
        context.addIssue({
          code: 'custom',
          path: ['visits', index, 'choice'],
          message: `must be ${SCAN_CHOICES[index]}`,
        });
  });
export type SiteScannedRecord = z.infer<typeof SiteScannedRecord>;
