import { ApiError } from '../../../../schemas/api/error-codes.js';
import type { SiteConfigDraft } from '../../../../schemas/api/panel/configuration.js';
import { changeConfigDraft, draftOfContent } from '../../../tenancy/configuration/draft.js';
import { type Edit, merged, type Partially } from '../../../tenancy/configuration/edits.js';
import { IncompleteConfiguration } from '../../../tenancy/configuration/problems.js';
import { publishConfigDraft } from '../../../tenancy/configuration/publish-site-config.js';
import { vendorListsIn } from '../../../tenancy/configuration/vendor-lists.js';
import type { PanelRoutesOptions } from '../deps.js';
import { changes, type PanelRoute, reads } from '../route.js';
import { bannerRoutes } from './banner-routes.js';
import * as operations from './operations.js';
import { configurationVersion, configurationVersions, draftShown } from './show-configuration.js';

/**
 * Changes the draft of a site, one revision after another. Visitors see its published versions,
 * which never change.
 */
export function configurationRoutes(options: PanelRoutesOptions): readonly PanelRoute[] {
  const { apiPool, config } = options;
  const findVendorList = vendorListsIn(config.vendorListFolder);
  return [
    reads(operations.readConfiguration, async ({ params }) => ({
      data: await draftShown(apiPool, params.site_id, findVendorList),
    })),
    changes(operations.replaceConfiguration, async ({ params, body }, db) => {
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
    }),
    changes(operations.changeConfiguration, async ({ params, body }, db) => {
      const { revision: expected, ...change } = body;
      const { result: changed, revision } = await changeConfigDraft(db, params.site_id, expected, (draft) =>
        changeSettings(draft, change),
      );
      return {
        response: { data: await draftShown(db, params.site_id, findVendorList) },
        subject: { kind: 'configuration', id: params.site_id },
        details: { changed: [...changed], revision },
      };
    }),
    changes(operations.publishConfiguration, async ({ params, body }, db) => {
      const { number, sha256, eventId } = await publishConfigDraft(
        db,
        params.site_id,
        body.revision,
        findVendorList,
      ).catch(listProblems);
      return {
        response: { data: await configurationVersion(db, params.site_id, number) },
        subject: { kind: 'configuration', id: params.site_id },
        details: { number, sha256, publication_event_id: eventId, revision: body.revision },
      };
    }),
    reads(operations.listConfigurationVersions, ({ params, query }) =>
      configurationVersions(apiPool, params.site_id, query),
    ),
    reads(operations.readConfigurationVersion, async ({ params }) => ({
      data: await configurationVersion(apiPool, params.site_id, params.number),
    })),
    ...bannerRoutes(options),
  ];
}

type SettingsChange = Partially<Omit<SiteConfigDraft, 'controller'>> & {
  readonly controller?: Partially<SiteConfigDraft['controller']> | undefined;
};

function changeSettings(draft: SiteConfigDraft, { controller, ...settings }: SettingsChange): Edit<readonly string[]> {
  const named = merged(draft.controller, controller ?? {});
  const { value, changed } = merged(draft, settings);
  return {
    draft: { ...value, controller: named.value },
    result: [...named.changed.map((name) => `controller.${name}`), ...changed],
  };
}

function listProblems(error: unknown): never {
  if (!(error instanceof IncompleteConfiguration)) throw error;
  throw new ApiError(
    'VALIDATION_ERROR',
    'The configuration is not complete. The member errors lists what is missing.',
    { errors: error.problems },
  );
}
