import type { JsonObject } from '../../../schemas/json/json-value.js';

/** What a change of a version did, as `publishVersion`, `activateVersion` and `retireVersion` return it. */
interface VersionChange {
  readonly changed?: boolean;
  /** Version that was retired in its place; null: none. */
  readonly retired?: string | null;
  /** Sites to which the document is attached, and where the same was done. */
  readonly attachedSiteIds: readonly string[];
}

/** What the audit-log entry of such a change states besides the version. */
export function versionChangeDetails({ changed, retired, attachedSiteIds }: VersionChange): JsonObject {
  return {
    ...(changed !== undefined && { changed }),
    ...(retired !== undefined && { retired_version_id: retired }),
    attached_site_ids: [...attachedSiteIds],
  };
}
