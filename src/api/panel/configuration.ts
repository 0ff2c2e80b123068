import * as z from 'zod';
import { InputInteger } from '../../../schemas/api/common.js';
import { ApiError } from '../../../schemas/api/error-codes.js';
import { dataOf, pageOf, SiteParams } from '../../../schemas/api/panel/common.js';
import {
  ChangeConfigurationRequest,
  ConfigurationDraft,
  ConfigurationVersion,
  ConfigurationVersionParams,
  ConfigurationVersionsQuery,
  ConfigurationVersionWithRecord,
  DraftLink,
  PublishConfigurationRequest,
  ReplaceConfigurationRequest,
  type SiteConfigDraft,
} from '../../../schemas/api/panel/configuration.js';
import type { AccountSettings } from '../../../schemas/events/site-config.js';
import {
  joinPublication,
  PUBLICATION_COLUMNS,
  PublicationRow,
  publicationOf,
} from '../../evidence/records/publication.js';
import type { Queryable } from '../../platform/database/pool.js';
import { ChangeRefused } from '../../platform/errors.js';
import { type RowSeals, readSealed } from '../../platform/keys/index.js';
import { changeConfigDraft, draftOfContent, hasChanges, readConfigDraft } from '../../tenancy/configuration/draft.js';
import { newDraftToken } from '../../tenancy/configuration/draft-link.js';
import { type Edit, merged, type Partially } from '../../tenancy/configuration/edits.js';
import { IncompleteConfiguration, namedVendorList, problemsOf } from '../../tenancy/configuration/problems.js';
import { publishConfigDraft, publishVersionAgain } from '../../tenancy/configuration/publish-site-config.js';
import type { FindVendorList } from '../../tenancy/configuration/vendor-lists.js';
import { EDITORS, READERS } from './caller.js';
import { route } from './deps.js';
import { keyOfCursor, type Page, type PageRequest, pageOfRows } from './page.js';

const shared = { auth: 'panel', tag: 'Configuration', params: SiteParams } as const;
const path = '/api/v1/sites/{site_id}/configuration';
/** Enough for the largest draft, with its JSON escapes. */
const DRAFT_BODY_LIMIT = 2 * 1024 * 1024;

/**
 * Changes the draft of a site, one revision after another. Visitors see its published versions,
 * which never change.
 */
export const CONFIGURATION_OPERATIONS = [
  route({
    ...shared,
    id: 'readConfiguration',
    path,
    summary: 'Get the draft of the configuration of a site, and the problems that prevent its publication',
    description:
      'A site has one draft. Each change of the draft increases `revision`, including changes of categories, cookies and banner texts. Before the first change the draft equals the version in force.',
    roles: READERS,
    response: dataOf(ConfigurationDraft),
    handle: async ({ params }, { apiPool, findVendorList }) => ({
      data: await draftShown(apiPool, params.site_id, findVendorList),
    }),
  }),
  route({
    ...shared,
    id: 'replaceConfiguration',
    method: 'put',
    path,
    summary: 'Replace the draft',
    description: '`revision` is the one that was read: 409 WRONG_STATE if the draft was changed since.',
    roles: EDITORS,
    body: ReplaceConfigurationRequest,
    example: {
      body: {
        controller: { legal_name: 'Example Shop Ltd', contact: 'privacy@shop.example' },
        default_language: 'en',
        languages: ['en'],
        validity_days: 365,
        banner: { en: { title: 'Cookies', accept: 'Accept', reject: 'Reject' } },
        withdrawal: { en: 'Change your choice at any time at the foot of each page.' },
        categories: [],
        cookies: [],
        revision: 0,
      },
    },
    bodyLimit: DRAFT_BODY_LIMIT,
    response: dataOf(ConfigurationDraft),
    errors: ['WRONG_STATE'],
    action: 'configuration.replace',
    change: async ({ params, body }, db, { findVendorList }) => {
      const { revision: expected, ...content } = body;
      const { result: changed, revision } = await changeConfigDraft(db, params.site_id, expected, (before) => {
        const { value, changed: names } = merged(before, draftOfContent(content, before.cookies));
        return { draft: value, result: names };
      });
      return {
        response: { data: await draftShown(db, params.site_id, findVendorList) },
        subject: { kind: 'configuration', id: params.site_id },
        details: { changed: [...changed], revision },
      };
    },
  }),
  route({
    ...shared,
    id: 'changeConfiguration',
    method: 'patch',
    path,
    summary: 'Change the controller, languages, periods or rules of the draft',
    description:
      'Absent members stay as they are. `revision` is the one that was read: 409 WRONG_STATE if the draft was changed since.',
    roles: EDITORS,
    body: ChangeConfigurationRequest,
    example: { body: { validity_days: 180, revision: 3 } },
    response: dataOf(ConfigurationDraft),
    errors: ['WRONG_STATE'],
    action: 'configuration.change',
    change: async ({ params, body }, db, { findVendorList }) => {
      const { revision: expected, ...change } = body;
      const { result: changed, revision } = await changeConfigDraft(db, params.site_id, expected, (draft) =>
        changeSettings(draft, change),
      );
      return {
        response: { data: await draftShown(db, params.site_id, findVendorList) },
        subject: { kind: 'configuration', id: params.site_id },
        details: { changed: [...changed], revision },
      };
    },
  }),
  route({
    ...shared,
    id: 'publishConfiguration',
    method: 'post',
    path: `${path}/publish`,
    summary: 'Publish the draft as the next version',
    description:
      'With `version`, the content of that version becomes the next one, and a draft with changes stays as it is. The version is in force immediately. It is written to the event log, sealed and stamped; consents refer to it by its hash. 422 VALIDATION_ERROR lists the texts that a language of the site lacks, and refuses a time zone that the service does not know and a `withdrawal_url` that is not on the proved domain (below it only if the DNS or an operator proved it), and rules that no listed law permits. 409 WRONG_STATE if the site is not verified, if `revision` is not that of the draft, or if nothing would change. Texts in languages that the site does not have are omitted.',
    roles: EDITORS,
    body: PublishConfigurationRequest,
    example: { body: { revision: 4 } },
    status: 201,
    response: dataOf(ConfigurationVersion),
    errors: ['RESOURCE_NOT_FOUND', 'WRONG_STATE'],
    action: 'configuration.publish',
    change: async ({ params, body }, db, { findVendorList }) => {
      const { revision, version } = body;
      const published =
        version === undefined
          ? publishConfigDraft(db, params.site_id, revision, findVendorList)
          : publishVersionAgain(db, params.site_id, { revision, number: version }, findVendorList);
      const { number, sha256, eventId } = await published.catch(listProblems);
      return {
        response: { data: await configurationVersion(db, params.site_id, number) },
        subject: { kind: 'configuration', id: params.site_id },
        details: {
          number,
          sha256,
          publication_event_id: eventId,
          revision,
          ...(version !== undefined && { version }),
        },
      };
    },
  }),
  route({
    ...shared,
    id: 'linkConfigurationDraft',
    method: 'post',
    path: `${path}/draft-link`,
    summary: 'Make a link that shows the draft on the site for an hour',
    description:
      'Whoever has the link sees the draft, which records nothing and permits nothing optional. 409 WRONG_STATE if the site is not verified or the draft has no language.',
    roles: EDITORS,
    status: 201,
    response: dataOf(DraftLink),
    errors: ['WRONG_STATE'],
    action: 'configuration.link_draft',
    change: async ({ params }, db, { keyring }) => {
      const { token, expiresAt } = newDraftToken(await keyring.siteKey(params.site_id), Date.now());
      const expires_at = expiresAt.toISOString();
      return {
        response: {
          data: {
            url: `https://${await linkedDomain(db, keyring, params.site_id)}/#consent-draft=${token}`,
            expires_at,
          },
        },
        subject: { kind: 'configuration', id: params.site_id },
        details: { expires_at },
      };
    },
  }),
  route({
    ...shared,
    id: 'listConfigurationVersions',
    path: `${path}/versions`,
    summary: 'List the published configurations of a site, newest first',
    description: '`publication` states the batch in which each version is sealed, and when it was stamped.',
    roles: READERS,
    query: ConfigurationVersionsQuery,
    response: pageOf(ConfigurationVersion),
    handle: ({ params, query }, { apiPool }) => configurationVersions(apiPool, params.site_id, query),
  }),
  route({
    ...shared,
    id: 'readConfigurationVersion',
    path: `${path}/versions/{number}`,
    summary: 'Get a published configuration, with the exact text of its hash',
    roles: READERS,
    params: ConfigurationVersionParams,
    response: dataOf(ConfigurationVersionWithRecord),
    errors: ['RESOURCE_NOT_FOUND'],
    handle: async ({ params }, { apiPool }) => ({
      data: await configurationVersion(apiPool, params.site_id, params.number),
    }),
  }),
];

/** Settings that a change removes by null, or 0, as they are while it is made. */
type Removable = {
  readonly accounts: AccountSettings | null;
  readonly time_zone: string | null;
  readonly withdrawal_url: string | null;
  /** 0: removed. */
  readonly refusal_days: number | null;
};
type SettingsChange = Partially<Omit<SiteConfigDraft, 'controller' | keyof Removable> & Removable> & {
  readonly controller?: Partially<SiteConfigDraft['controller']> | undefined;
};

function changeSettings(draft: SiteConfigDraft, { controller, ...settings }: SettingsChange): Edit<readonly string[]> {
  const named = merged(draft.controller, controller ?? {});
  const before: Omit<SiteConfigDraft, keyof Removable> & Removable = {
    accounts: null,
    time_zone: null,
    withdrawal_url: null,
    refusal_days: 0,
    ...draft,
  };
  const { value, changed } = merged(before, settings);
  const { accounts, time_zone: zone, withdrawal_url: url, refusal_days: days, ...others } = value;
  return {
    draft: {
      ...others,
      controller: named.value,
      ...(accounts !== null && { accounts }),
      ...(zone !== null && { time_zone: zone }),
      ...(url !== null && { withdrawal_url: url }),
      ...(days !== 0 && { refusal_days: days }),
    },
    result: [...named.changed.map((name) => `controller.${name}`), ...changed],
  };
}

const LinkedSite = z.object({ domain: z.string(), verified_at: z.string().nullable() });

/** The domain of a site whose draft can be shown on it. @throws ChangeRefused `not_found`, `wrong_state` */
async function linkedDomain(db: Queryable, seals: RowSeals, siteId: string): Promise<string> {
  const site = await readSealed(db, seals, { table: 'sites', where: 'r.id = $1', values: [siteId] }, LinkedSite);
  if (site === null) throw new ChangeRefused('not_found', `There is no site ${siteId}.`);
  if (site.verified_at === null)
    throw new ChangeRefused('wrong_state', `The site is not verified: verify the domain ${site.domain} first.`);
  const { draft } = await readConfigDraft(db, siteId);
  if (draft.languages.length === 0) throw new ChangeRefused('wrong_state', 'The draft has no language yet.');
  return site.domain;
}

function listProblems(error: unknown): never {
  if (!(error instanceof IncompleteConfiguration)) throw error;
  throw new ApiError(
    'VALIDATION_ERROR',
    'The configuration is not complete. The member errors lists what is missing.',
    { errors: error.problems },
  );
}

/** Reads the draft of a site, with what an editor needs to know about it. @throws ChangeRefused `not_found` */
async function draftShown(db: Queryable, siteId: string, findVendorList: FindVendorList): Promise<ConfigurationDraft> {
  const state = await readConfigDraft(db, siteId);
  const { inForce } = state;
  return {
    ...state.draft,
    revision: state.revision,
    changed_at: state.changedAt?.toISOString() ?? null,
    problems: [...problemsOf(state.draft, await namedVendorList(state.draft, findVendorList), state)],
    has_changes: hasChanges(state),
    in_force: inForce && { number: inForce.record.number, sha256: inForce.sha256 },
  };
}

const VersionRow = PublicationRow.extend({
  number: z.int(),
  sha256: z.string(),
  published_at: z.date(),
  is_in_force: z.boolean(),
});
const VersionRowWithRecord = VersionRow.extend({ record: z.string() });

const COLUMNS = `v.number, v.sha256, v.published_at, v.event_id, v.sha256 = s.site_config_hash as is_in_force, ${PUBLICATION_COLUMNS}`;
const FROM = `site_configs v join sites s on s.id = v.site_id ${joinPublication('v')}`;

const VersionCursor = z.tuple([InputInteger]);

/** A page of a site's published configurations, newest first. @throws ApiError VALIDATION_ERROR */
async function configurationVersions(
  db: Queryable,
  siteId: string,
  page: PageRequest,
): Promise<Page<ConfigurationVersion>> {
  const [before] = keyOfCursor(VersionCursor, page) ?? [null];
  const { rows } = await db.query(
    `select ${COLUMNS} from ${FROM} where v.site_id = $1 and ($2::integer is null or v.number < $2) order by v.number desc limit $3`,
    [siteId, before, page.limit + 1],
  );
  return pageOfRows(page, z.array(VersionRow).parse(rows), ({ number }) => [number], shown);
}

/** One published configuration. @throws ChangeRefused `not_found` */
async function configurationVersion(
  db: Queryable,
  siteId: string,
  number: number,
): Promise<ConfigurationVersionWithRecord> {
  const { rows } = await db.query(`select ${COLUMNS}, v.record from ${FROM} where v.site_id = $1 and v.number = $2`, [
    siteId,
    number,
  ]);
  const [row] = z.array(VersionRowWithRecord).parse(rows);
  if (row === undefined) throw new ChangeRefused('not_found', `The site has no configuration ${number}.`);
  return { ...shown(row), record: row.record };
}

function shown(row: z.infer<typeof VersionRow>): ConfigurationVersion {
  const { number, sha256, published_at, is_in_force } = row;
  return { number, sha256, published_at: published_at.toISOString(), is_in_force, publication: publicationOf(row) };
}
