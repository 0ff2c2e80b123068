import { readFile } from 'node:fs/promises';
import { Command } from 'commander';
import { schemaWords } from '../../../schemas/json/schema-words.js';
import { parseStrictInput, StrictJsonError } from '../../../schemas/json/strict-json.js';
import { changeAsOperator } from '../../platform/audit-log.js';
import { ChangeRefused } from '../../platform/errors.js';
import { publishSiteConfig, SiteConfig } from '../../tenancy/configuration/publish-site-config.js';
import { vendorListsIn } from '../../tenancy/configuration/vendor-lists.js';
import { verifySite } from '../../tenancy/domains/verify-site.js';
import { tenantOfSite } from '../../tenancy/sites/sites.js';
import { jsonCommand, uuid } from '../command/command.js';
import { type CliContext, configOf, print, withInstallation } from '../command/context.js';

interface Json {
  readonly json?: boolean;
}

/** `admin site verify|configure`: the panel has no operation for them. */
export function siteCommand(context: CliContext): Command {
  const group = new Command('site').description('manage sites and the verification of their domains');
  for (const make of [verifyCommand, configureCommand]) group.addCommand(make(context));
  return group;
}

function verifyCommand(context: CliContext): Command {
  return jsonCommand('verify', 'mark the domain of a site as verified: you vouch that it belongs to the tenant')
    .argument('<site>', 'id of the site', uuid)
    .action(async (id: string, options: Json) => {
      await withInstallation(context, async ({ adminPool }) => {
        const { domain, republished } = await changeAsOperator(adminPool, async (db) => {
          const result = await verifySite(db, id, null);
          return {
            result,
            tenantId: await tenantOfSite(db, id),
            action: 'site.verify',
            subject: { kind: 'site', id },
            details: { domain: result.domain, republished_configuration: result.republished },
          };
        });
        const also = republished === null ? '' : ` Configuration ${republished} was published and contains the domain.`;
        print(context, options, { id, domain, republished }, [`${domain} is verified.${also}`]);
      });
    });
}

function configureCommand(context: CliContext): Command {
  return jsonCommand('configure', 'publish a configuration of a site from a file, effective at once')
    .argument('<site>', 'id of the site', uuid)
    .requiredOption('--file <path>', 'JSON file; docs/http-api.md describes its members')
    .action(async (id: string, options: Json & { readonly file: string }) => {
      const config = await readConfig(options.file);
      const findVendorList = vendorListsIn(configOf(context).vendorListFolder);
      await withInstallation(context, async ({ adminPool }) => {
        const { number, sha256, eventId } = await changeAsOperator(adminPool, async (db) => {
          const result = await publishSiteConfig(db, id, config, { findVendorList });
          return {
            result,
            tenantId: await tenantOfSite(db, id),
            action: 'configuration.publish',
            subject: { kind: 'configuration', id },
            details: { number: result.number, sha256: result.sha256, publication_event_id: result.eventId },
          };
        });
        print(context, options, { number, sha256, event_id: eventId }, [
          `Configuration ${number} is in force: ${sha256}`,
        ]);
      });
    });
}

async function readConfig(path: string): Promise<SiteConfig> {
  try {
    const parsed = SiteConfig.safeParse(parseStrictInput(await readFile(path)), { error: schemaWords });
    if (parsed.success) return parsed.data;
    const problems = parsed.error.issues.map((issue) => `  ${issue.path.join('.')}: ${issue.message}`);
    throw new ChangeRefused('invalid', `${path} is not a site configuration:\n${problems.join('\n')}`);
  } catch (error) {
    if (error instanceof StrictJsonError) throw new ChangeRefused('invalid', `${path}: ${error.message}`);
    throw error;
  }
}
