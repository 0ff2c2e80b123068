import * as z from 'zod';
import { InputInteger } from '../../../../schemas/api/common.js';
import type {
  ConfigurationDraft,
  ConfigurationVersion,
  ConfigurationVersionWithRecord,
} from '../../../../schemas/api/panel/configuration.js';
import {
  joinPublication,
  PUBLICATION_COLUMNS,
  PublicationRow,
  publicationOf,
} from '../../../evidence/records/publication.js';
import type { Queryable } from '../../../platform/database/pool.js';
import { ChangeRefused } from '../../../platform/errors.js';
import { hasChanges, readConfigDraft } from '../../../tenancy/configuration/draft.js';
import { namedVendorList, problemsOf } from '../../../tenancy/configuration/problems.js';
import type { FindVendorList } from '../../../tenancy/configuration/vendor-lists.js';
import { keyOfCursor, type Page, type PageRequest, pageOfRows } from '../page.js';

/** The draft of a site, with what an editor has to know of it. @throws ChangeRefused `not_found` */
export async function draftShown(
  db: Queryable,
  siteId: string,
  findVendorList: FindVendorList,
): Promise<ConfigurationDraft> {
  const state = await readConfigDraft(db, siteId);
  const { inForce } = state;
  return {
    ...state.draft,
    revision: state.revision,
    changed_at: state.changedAt?.toISOString() ?? null,
    problems: [...problemsOf(state.draft, await namedVendorList(state.draft, findVendorList))],
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
export async function configurationVersions(
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
export async function configurationVersion(
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
