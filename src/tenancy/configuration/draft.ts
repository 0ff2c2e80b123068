import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { SiteConfigDraft } from '../../../schemas/api/panel/configuration.js';
import { parseSiteConfig } from '../../../schemas/events/sealed-event.js';
import {
  type ConsentCookie,
  configProblems,
  type SiteConfigPublishedRecord,
  type SiteRule,
} from '../../../schemas/events/site-config.js';
import { canonicalJson } from '../../../schemas/json/canonical-json.js';
import { type Queryable, withTransaction } from '../../platform/database/pool.js';
import { accepted, ChangeRefused, fieldOf, invalidChange } from '../../platform/errors.js';
import { Proof } from '../sites/proof-state.js';
import { keyProblems } from './problems.js';

/** The content of a configuration: the record without the members that the service adds. */
export type ConfigContent = Omit<
  SiteConfigPublishedRecord,
  'v' | 'event_id' | 'site_id' | 'created_at' | 'number' | 'domain'
>;

/**
 * Returns the content that publishing the draft would produce: without cookie ids, and with texts only in the site's
 * languages.
 */
export function contentOfDraft({ rules = [], ...draft }: SiteConfigDraft) {
  const { languages } = draft;
  const only = <T>(texts: Readonly<Record<string, T>>): Record<string, T> =>
    Object.fromEntries(Object.entries(texts).filter(([language]) => languages.includes(language)));
  return {
    ...draft,
    banner: only(draft.banner),
    withdrawal: only(draft.withdrawal),
    categories: draft.categories.map((category) => ({
      ...category,
      title: only(category.title),
      purpose: only(category.purpose),
    })),
    cookies: draft.cookies.map(({ id: _, ...cookie }) => ({ ...cookie, purpose: only(cookie.purpose) })),
    ...(rules.length > 0 && { rules: rules.map((rule) => ({ ...rule, categories: grounded(rule, only) })) }),
  };
}

type Texts = Readonly<Record<string, string>>;

/** What a rule says of its categories, with the grounds that `only` leaves. */
function grounded({ categories }: SiteRule, only: (texts: Texts) => Texts): SiteRule['categories'] {
  const entries = Object.entries(categories);
  return Object.fromEntries(
    entries.map(([key, one]) => [key, one.rule === 'exempt' ? { ...one, ground: only(one.ground) } : one]),
  );
}

/** The content of a published record. */
export function contentOfRecord(record: SiteConfigPublishedRecord): ConfigContent {
  const { v, event_id, site_id, created_at, number, domain, ...content } = record;
  return content;
}

/** The draft of a site's configuration, and the configuration in force. */
export interface ConfigDraftState {
  /** Increases by one with every change, from 0 before the first change. */
  readonly revision: number;
  readonly changedAt: Date | null;
  readonly draft: SiteConfigDraft;
  /** The site's current domain. */
  readonly domain: string;
  /** How it was proved; null also if it is not. */
  readonly proof: Proof | null;
  readonly inForce: { readonly sha256: string; readonly record: SiteConfigPublishedRecord } | null;
}

/** Largest draft in bytes, as encoded in an event: far below the limit of the event log. */
const MAX_DRAFT_BYTES = 500_000;

const StateRow = z.object({
  domain: z.string(),
  proof: Proof.nullable(),
  revision: z.int().nullable(),
  content: SiteConfigDraft.nullable(),
  changed_at: z.date().nullable(),
  sha256: z.string().nullable(),
  record: z.string().nullable(),
});

/**
 * Reads the draft of a site's configuration. Without a stored draft, the draft equals the
 * configuration in force, or is empty.
 * @throws ChangeRefused `not_found`
 */
export async function readConfigDraft(db: Queryable, siteId: string): Promise<ConfigDraftState> {
  const { rows } = await db.query(
    `select s.domain, s.proof, d.revision, d.content, d.changed_at, c.sha256, c.record
       from sites s
       left join site_config_drafts d on d.site_id = s.id
       left join site_configs c on c.sha256 = s.site_config_hash
      where s.id = $1`,
    [siteId],
  );
  const [row] = z.array(StateRow).parse(rows);
  if (row === undefined) throw new ChangeRefused('not_found', `There is no site ${siteId}.`);
  const { revision, content, changed_at: changedAt, domain, proof, sha256, record } = row;
  const inForce = sha256 === null || record === null ? null : { sha256, record: parseSiteConfig(record) };
  const begun = inForce === null ? EMPTY : draftOfContent(contentOfRecord(inForce.record), []);
  return { revision: revision ?? 0, changedAt, draft: content ?? begun, domain, proof, inForce };
}

const EMPTY: SiteConfigDraft = {
  controller: { legal_name: null, contact: null },
  default_language: null,
  languages: [],
  validity_days: null,
  banner: {},
  withdrawal: {},
  categories: [],
  cookies: [],
};

/** Whether publishing would change the configuration in force. */
export function hasChanges({ draft, domain, inForce }: ConfigDraftState): boolean {
  if (inForce === null || inForce.record.domain !== domain) return true;
  return canonicalJson(contentOfDraft(draft)) !== canonicalJson(contentOfRecord(inForce.record));
}

/** Creates a draft with this content. A cookie keeps the id that it has in `before`. */
export function draftOfContent(
  content: Omit<SiteConfigDraft, 'cookies'> & { readonly cookies: readonly ConsentCookie[] },
  before: SiteConfigDraft['cookies'],
): SiteConfigDraft {
  return {
    ...content,
    cookies: content.cookies.map((cookie) => {
      const known = before.find(({ name, provider }) => name === cookie.name && provider === cookie.provider);
      return { ...cookie, id: known?.id ?? randomUUID() };
    }),
  };
}

/** A changed draft. */
export interface ChangedDraft<T> {
  readonly revision: number;
  readonly result: T;
}

/**
 * Changes the draft of a site's configuration. Concurrent changes run one after another.
 * @param expected revision that the change is based on; undefined permits any
 * @param change returns the new draft and a result for the caller
 * @throws ChangeRefused `not_found`, `wrong_state` (another revision), `invalid`; errors of
 *   `change`
 */
export function changeConfigDraft<T>(
  db: Queryable,
  siteId: string,
  expected: number | undefined,
  change: (draft: SiteConfigDraft) => { readonly draft: SiteConfigDraft; readonly result: T },
): Promise<ChangedDraft<T>> {
  return withTransaction(db, async (db) => {
    // `no key update` is enough to serialise changes of the draft: admission does not read drafts.
    await db.query('select from sites where id = $1 for no key update', [siteId]);
    const state = await readConfigDraft(db, siteId);
    refuseOtherRevision(state, expected);
    const { draft, result } = change(state.draft);
    return { revision: await storeConfigDraft(db, siteId, state.revision, draft), result };
  });
}

/** Checks the revision of a draft. @throws ChangeRefused `wrong_state` */
export function refuseOtherRevision({ revision }: ConfigDraftState, expected: number | undefined): void {
  if (expected === undefined || expected === revision) return;
  throw new ChangeRefused(
    'wrong_state',
    `The draft was changed: it has revision ${revision}, not ${expected}. Read the draft again.`,
  );
}

/**
 * Stores a draft. The caller holds the lock on the site's row.
 * @param before revision of the stored draft
 * @returns the new revision
 * @throws ChangeRefused `invalid`
 */
export async function storeConfigDraft(
  db: Queryable,
  siteId: string,
  before: number,
  draft: SiteConfigDraft,
): Promise<number> {
  const text = textOf(draft);
  await db.query(
    `insert into site_config_drafts (site_id, revision, content, changed_at) values ($1, $2, $3, clock_timestamp())
     on conflict (site_id) do update set revision = excluded.revision, content = excluded.content, changed_at = excluded.changed_at`,
    [siteId, before + 1, text],
  );
  return before + 1;
}

function textOf(draft: SiteConfigDraft): string {
  const parsed = accepted(SiteConfigDraft, draft);
  const [problem] = configProblems(draft.categories, draft.cookies);
  if (problem !== undefined) throw invalidChange({ field: fieldOf(problem.path), message: problem.message });
  const keys = [...keyProblems(draft)];
  if (keys.length > 0) throw invalidChange(...keys);
  if (new Set(draft.languages).size !== draft.languages.length) {
    throw invalidChange({ field: 'languages', message: 'a language is listed twice' });
  }
  const text = JSON.stringify(parsed);
  const bytes = Buffer.byteLength(JSON.stringify(text), 'utf8');
  if (bytes > MAX_DRAFT_BYTES) {
    const message = `The configuration has ${bytes} bytes. The maximum is ${MAX_DRAFT_BYTES}.`;
    throw new ChangeRefused('invalid', message, [{ field: '', message }]);
  }
  return text;
}
