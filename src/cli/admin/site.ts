import { readFile } from 'node:fs/promises';
import { Command, Option } from 'commander';
import { schemaWords } from '../../../schemas/json/schema-words.js';
import { parseStrictInput, StrictJsonError } from '../../../schemas/json/strict-json.js';
import { tenantList } from '../../api/panel/tenants.js';
import { countSite } from '../../app/count-site.js';
import { changeAsOperator } from '../../platform/audit-log.js';
import { ChangeRefused } from '../../platform/errors.js';
import { publishSiteConfig, SiteConfig } from '../../tenancy/configuration/publish-site-config.js';
import { vendorListsIn } from '../../tenancy/configuration/vendor-lists.js';
import { verifySite } from '../../tenancy/domains/verify-site.js';
import { tenantOfSite } from '../../tenancy/sites/sites.js';
import { changeSubscription, createTenant, PLANS } from '../../tenancy/tenants/tenants.js';
import { allPages, CommandError, jsonCommand, uuid, wholeNumber } from '../command/command.js';
import { type CliContext, configOf, print, withInstallation } from '../command/context.js';

interface Json {
  readonly json?: boolean;
}

interface PlanOptions extends Json {
  readonly plan: keyof typeof PLANS | 'none';
  readonly quota?: number;
  readonly rateLimit?: number;
}

/** `admin tenant list|create|plan`: an operator has no tenant, and assigns the plans. */
export function tenantCommand(context: CliContext): Command {
  const group = new Command('tenant').description('manage tenants and their plans');
  for (const make of [listCommand, createCommand, planCommand]) group.addCommand(make(context));
  return group;
}

function listCommand(context: CliContext): Command {
  return jsonCommand('list', 'list all tenants').action(async (options: Json) => {
    await withInstallation(context, async ({ adminPool }) => {
      const tenants = await allPages((page) => tenantList(adminPool, null, page));
      const lines = tenants.map(({ id, created_at, name }) => `${id}  since ${created_at}  ${name}`);
      print(context, options, { tenants }, lines.length === 0 ? ['There are no tenants.'] : lines);
    });
  });
}

function createCommand(context: CliContext): Command {
  return withPlanOptions(jsonCommand('create', 'create a tenant'))
    .requiredOption('--name <name>', 'name of the tenant')
    .action(async (options: PlanOptions & { readonly name: string }) => {
      await withInstallation(context, async ({ adminPool }) => {
        const { id } = await changeAsOperator(adminPool, async (db) => {
          const result = await createTenant(db, options.name, planOf(options));
          const subject = { kind: 'tenant', id: result.id };
          return { result, tenantId: result.id, action: 'tenant.create', subject, details: { plan: options.plan } };
        });
        print(context, options, { id }, [`Created tenant ${id}.`]);
      });
    });
}

function planCommand(context: CliContext): Command {
  return withPlanOptions(jsonCommand('plan', 'change the plan of a tenant'))
    .argument('<tenant>', 'id of the tenant', uuid)
    .action(async (id: string, options: PlanOptions) => {
      await withInstallation(context, async ({ adminPool }) => {
        await changeAsOperator(adminPool, async (db) => {
          await changeSubscription(db, id, planOf(options));
          const subject = { kind: 'tenant', id };
          const details = { plan: options.plan };
          return { result: undefined, tenantId: id, action: 'tenant.change_plan', subject, details };
        });
        print(context, options, { id, plan: options.plan }, [`The plan of tenant ${id} is ${options.plan}.`]);
      });
    });
}

function withPlanOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--plan <plan>', 'plan of the tenant').choices([...Object.keys(PLANS), 'none']).default('standard'),
    )
    .option('--quota <consents>', 'consents allowed per month, if not what the plan allows', wholeNumber(0))
    .option('--rate-limit <requests>', 'requests allowed per minute, if not what the plan allows', wholeNumber(1));
}

function planOf({ plan, quota, rateLimit }: PlanOptions) {
  if (plan === 'none') return null;
  const terms = PLANS[plan];
  return {
    name: terms.name,
    rateLimitPerMinute: rateLimit ?? terms.rateLimitPerMinute,
    consentQuota: quota ?? terms.consentQuota,
  };
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
            details: {
              domain: result.domain,
              found: 'operator',
              proof: result.proof,
              republished_configuration: result.republished,
            },
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

/** `admin count`: counts a site's events at each stage of the pipeline. */
export function countCommand(context: CliContext): Command {
  return jsonCommand('count', 'count the events of a site at each stage of the pipeline')
    .requiredOption('--site <id>', 'id of the site', uuid)
    .action(async (options: { readonly json?: boolean; readonly site: string }) => {
      await withInstallation(context, async ({ workerPool, eventLog }) => {
        const counts = await countSite({ db: workerPool, eventLog }, options.site);
        if (counts === null) throw new CommandError(`There is no site ${options.site}.`);
        const lines = Object.entries(counts).map(([name, count]) => `${name.padEnd(18)} ${String(count)}`);
        print(context, options, counts, lines);
      });
    });
}
