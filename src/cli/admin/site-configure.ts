import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { parseStrictInput, StrictJsonError } from '../../../schemas/json/strict-json.js';
import {
  configurationVersion,
  configurationVersions,
  draftShown,
} from '../../api/panel/configuration/show-configuration.js';
import { changeAsOperator } from '../../platform/audit-log/change-as-operator.js';
import type { Queryable } from '../../platform/database/pool.js';
import { ChangeRefused } from '../../platform/errors/change-refused.js';
import {
  type PublishedConfig,
  publishConfigDraft,
  publishSiteConfig,
  SiteConfig,
} from '../../tenancy/configuration/publish-site-config.js';
import { tenantOfSite } from '../../tenancy/sites/owner-of.js';
import { allPages } from '../command/all-pages.js';
import { jsonCommand, uuid, wholeNumber } from '../command/command.js';
import { type CliContext, print, withInstallation } from '../command/context.js';

interface Json {
  readonly json?: boolean;
}

/** `admin site configure` */
export function configureCommand(context: CliContext): Command {
  return jsonCommand('configure', 'publish a configuration of a site, effective at once')
    .argument('<site>', 'id of the site', uuid)
    .requiredOption('--file <path>', 'JSON file; docs/http-api.md describes its members')
    .action(async (id: string, options: Json & { readonly file: string }) => {
      const config = await readConfig(options.file);
      await publishAsOperator(context, id, options, (db) => publishSiteConfig(db, id, config));
    });
}

/** `admin site publish-configuration` */
export function publishConfigurationCommand(context: CliContext): Command {
  return jsonCommand('publish-configuration', 'publish the draft of the configuration of a site, effective at once')
    .argument('<site>', 'id of the site', uuid)
    .requiredOption('--revision <number>', 'revision of the draft to publish', wholeNumber(0))
    .action(async (id: string, options: Json & { readonly revision: number }) => {
      await publishAsOperator(context, id, options, (db) => publishConfigDraft(db, id, options.revision));
    });
}

/** `admin site configuration` */
export function configurationCommand(context: CliContext): Command {
  return jsonCommand('configuration', 'show the draft of the configuration of a site, or a published configuration')
    .argument('<site>', 'id of the site', uuid)
    .option('--number <number>', 'number of a published configuration, instead of the draft', wholeNumber(1))
    .action(async (id: string, options: Json & { readonly number?: number }) => {
      await withInstallation(context, async ({ adminPool }) => {
        const { number } = options;
        if (number === undefined) {
          const draft = await draftShown(adminPool, id);
          print(context, options, draft, [JSON.stringify(draft, null, 2)]);
        } else {
          await tenantOfSite(adminPool, id);
          const version = await configurationVersion(adminPool, id, number);
          print(context, options, version, [version.record]);
        }
      });
    });
}

/** `admin site configurations` */
export function configurationsCommand(context: CliContext): Command {
  return jsonCommand(
    'configurations',
    'list the published configurations of a site with their Merkle batches and time stamps',
  )
    .argument('<site>', 'id of the site', uuid)
    .action(async (id: string, options: Json) => {
      await withInstallation(context, async ({ adminPool }) => {
        await tenantOfSite(adminPool, id);
        const configurations = await allPages((page) => configurationVersions(adminPool, id, page));
        const lines = configurations.map(
          ({ number, sha256, published_at, is_in_force, publication: { sealed, stamped } }) =>
            `${number}  ${published_at}  sha256 ${sha256}  batch ${sealed?.batch ?? '-'}  stamped ${stamped?.gen_time ?? '-'}${is_in_force ? '  in force' : ''}`,
        );
        print(
          context,
          options,
          { configurations },
          lines.length === 0 ? ['The site has no published configuration.'] : lines,
        );
      });
    });
}

async function publishAsOperator(
  context: CliContext,
  siteId: string,
  options: Json,
  publish: (db: Queryable) => Promise<PublishedConfig>,
): Promise<void> {
  await withInstallation(context, async ({ adminPool }) => {
    const published = await changeAsOperator(adminPool, async (db) => {
      const result = await publish(db);
      return {
        result,
        tenantId: await tenantOfSite(db, siteId),
        action: 'configuration.publish',
        subject: { kind: 'configuration', id: siteId },
        details: { number: result.number, sha256: result.sha256, publication_event_id: result.eventId },
      };
    });
    const { number, sha256, eventId } = published;
    print(context, options, { number, sha256, event_id: eventId }, [`Configuration ${number} is in force: ${sha256}`]);
  });
}

async function readConfig(path: string): Promise<SiteConfig> {
  try {
    const parsed = SiteConfig.safeParse(parseStrictInput(await readFile(path)));
    if (parsed.success) return parsed.data;
    const problems = parsed.error.issues.map((issue) => `  ${issue.path.join('.')}: ${issue.message}`);
    throw new ChangeRefused('invalid', `${path} is not a site configuration:\n${problems.join('\n')}`);
  } catch (error) {
    if (error instanceof StrictJsonError) throw new ChangeRefused('invalid', `${path}: ${error.message}`);
    throw error;
  }
}
