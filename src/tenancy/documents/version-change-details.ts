import type { JsonObject } from '../../../schemas/json/json-value.js';

/** Result of `publishVersion`, `activateVersion` or `retireVersion`. */
interface VersionChange {
  readonly changed?: boolean;
  /** Version that was retired in its place; null: none. */
  readonly retired?: string | null;
  /** Sites to which the document is attached: the same change was made there. */
  readonly attachedSiteIds: readonly string[];
}

/** Returns the details of the change's audit-log entry, besides those of the version. */
export function versionChangeDetails({ changed, retired, attachedSiteIds }: VersionChange): JsonObject {
  return {
    ...(changed !== undefined && { changed }),
    ...(retired !== undefined && { retired_version_id: retired }),
    attached_site_ids: [...attachedSiteIds],
  };
}
