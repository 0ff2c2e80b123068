import { Command, Option } from 'commander';
import { z } from 'zod';
import { ChangeSiteRequest } from '../../../schemas/api/panel/sites.js';
import { siteList, siteOf } from '../../api/panel/sites/show-sites.js';
import { changeAsOperator } from '../../platform/audit-log/change-as-operator.js';
import { type Queryable, withTransaction } from '../../platform/database/pool.js';
import { challengeOfSite, verifySite } from '../../tenancy/domains/verify-site.js';
import { changeRetentionPeriod } from '../../tenancy/sites/change-retention-period.js';
import { changeSiteSettings, type SiteSettings } from '../../tenancy/sites/change-site-settings.js';
import { createSite } from '../../tenancy/sites/create-site.js';
import { tenantOfSite } from '../../tenancy/sites/owner-of.js';
import { allPages } from '../command/all-pages.js';
import { jsonCommand, several, uuid, wholeNumber } from '../command/command.js';
import { type CliContext, print, withInstallation } from '../command/context.js';
import { CommandError } from '../command/exit-codes.js';
import {
  configurationCommand,
  configurationsCommand,
  configureCommand,
  publishConfigurationCommand,
} from './site-configure.js';

interface Json {
  readonly json?: boolean;
}

interface SettingOptions extends Json {
  readonly name?: string;
  readonly domain?: string;
  readonly allowedOrigin?: readonly string[];
  readonly allowedIp?: readonly string[];
  readonly retentionDays?: number;
}

interface CreateOptions extends SettingOptions {
  readonly tenant: string;
  readonly name: string;
  readonly domain: string;
  readonly verified?: boolean;
}

interface ChangeOptions extends SettingOptions {
  readonly anyOrigin?: boolean;
  readonly anyIp?: boolean;
  readonly keepForever?: boolean;
}

/** `admin site …` */
export function siteCommand(context: CliContext): Command {
  const group = new Command('site').description('manage sites and their configurations');
  for (const make of [
    listCommand,
    showCommand,
    createCommand,
    changeCommand,
    verifyCommand,
    configureCommand,
    publishConfigurationCommand,
    configurationCommand,
    configurationsCommand,
  ]) {
    group.addCommand(make(context));
  }
  return group;
}

function listCommand(context: CliContext): Command {
  return jsonCommand('list', 'list the sites of a tenant')
    .requiredOption('--tenant <id>', 'id of the tenant', uuid)
    .action(async (options: Json & { readonly tenant: string }) => {
      await withInstallation(context, async ({ adminPool }) => {
        const sites = await allPages((page) => siteList(adminPool, options.tenant, page));
        const lines = sites.map(
          ({ id, domain, verified_at, configuration }) =>
            `${id}  ${verified_at === null ? 'unverified' : 'verified  '}  configuration ${configuration?.number ?? 'none'}  ${domain}`,
        );
        print(context, options, { sites }, lines.length === 0 ? ['The tenant has no sites.'] : lines);
      });
    });
}

function showCommand(context: CliContext): Command {
  return jsonCommand('show', 'show a site, and the DNS record that verifies its domain')
    .argument('<site>', 'id of the site', uuid)
    .action(async (id: string, options: Json) => {
      await withInstallation(context, async ({ adminPool }) => {
        const site = await siteOf(adminPool, await tenantOfSite(adminPool, id), id);
        const { challenge } = await challengeOfSite(adminPool, id);
        print(context, options, { ...site, dns_record: challenge }, [
          `${site.name}, ${site.domain}, ${site.verified_at === null ? 'not verified' : `verified ${site.verified_at}`}`,
          `DNS record that verifies it: ${challenge.name} TXT "${challenge.value}"`,
          `allowed origins: ${site.allowed_origins.join(', ') || 'all'}`,
          `allowed addresses: ${site.allowed_ips.join(', ') || 'all'}`,
          `retention period: ${site.retention_days === null ? 'unlimited' : `${site.retention_days} days`}`,
          `configuration in force: ${site.configuration === null ? 'none' : `${site.configuration.number} (${site.configuration.sha256})`}`,
        ]);
      });
    });
}

function createCommand(context: CliContext): Command {
  return withSettings(jsonCommand('create', 'create a site of a tenant'))
    .requiredOption('--tenant <id>', 'id of the tenant', uuid)
    .requiredOption('--name <name>', 'name of the site')
    .requiredOption('--domain <domain>', 'domain of the site, e.g. shop.example')
    .option('--verified', 'mark the domain as verified: you vouch that it belongs to the tenant')
    .action(async (options: CreateOptions) => {
      await withInstallation(context, async ({ adminPool }) => {
        const retention = { retention_days: options.retentionDays ?? null };
        const { id } = await changeAsOperator(adminPool, async (db) => {
          const result = await createSite(db, {
            tenantId: options.tenant,
            name: options.name,
            domain: options.domain,
            isVerified: options.verified === true,
            allowedOrigins: [...(options.allowedOrigin ?? [])],
            allowedIps: [...(options.allowedIp ?? [])],
            retention,
          });
          return {
            result,
            tenantId: options.tenant,
            action: 'site.create',
            subject: { kind: 'site', id: result.id },
            details: {
              domain: options.domain,
              verified: options.verified === true,
              ...retention,
            },
          };
        });
        print(context, options, { id }, [`Created site ${id}.`]);
      });
    });
}

function changeCommand(context: CliContext): Command {
  return withSettings(jsonCommand('change', 'change the given settings of a site'))
    .argument('<site>', 'id of the site', uuid)
    .option('--name <name>', 'name of the site')
    .option('--domain <domain>', 'new domain, which must be verified again')
    .addOption(new Option('--any-origin', 'allow browsers of every origin').conflicts('allowedOrigin'))
    .addOption(new Option('--any-ip', 'allow every address').conflicts('allowedIp'))
    .addOption(
      new Option('--keep-forever', 'remove the retention period: erase no record by age').conflicts('retentionDays'),
    )
    .action(async (id: string, options: ChangeOptions) => {
      await withInstallation(context, async ({ adminPool }) => {
        const changed = await withTransaction(adminPool, async (db) => {
          const days = options.keepForever === true ? null : options.retentionDays;
          const named = settingsOf(options);
          const isPeriodOnly = days !== undefined && Object.keys(named).length === 0;
          const settings = isPeriodOnly ? [] : await changeSettings(db, id, named);
          const isOther = days !== undefined && (await changePeriod(db, id, days));
          return isOther ? [...settings, 'retention_days'] : settings;
        });
        print(context, options, { id, changed }, [`Changed: ${changed.join(', ') || 'nothing'}.`]);
      });
    });
}

function changeSettings(db: Queryable, id: string, settings: SiteSettings): Promise<readonly string[]> {
  return changeAsOperator(db, async () => {
    const tenantId = await tenantOfSite(db, id);
    const { changed, domain } = await changeSiteSettings(db, id, settings);
    const details = { changed: [...changed], ...(domain !== null && { domain }) };
    return { result: changed, tenantId, action: 'site.change', subject: { kind: 'site', id }, details };
  });
}

/**
 * Changes the retention period.
 * @param days null: unlimited
 * @returns whether it changed
 */
function changePeriod(db: Queryable, id: string, days: number | null): Promise<boolean> {
  return changeAsOperator(db, async () => {
    const tenantId = await tenantOfSite(db, id);
    const details = await changeRetentionPeriod(db, id, { retention_days: days });
    const action = 'site.change_retention_period';
    const isChanged = Object.values(details).some(({ before, after }) => before !== after);
    return { result: isChanged, tenantId, action, subject: { kind: 'site', id }, details };
  });
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

function withSettings(command: Command): Command {
  return command
    .option('--allowed-origin <origin>', 'allow browsers of this origin only; may be repeated', several)
    .option('--allowed-ip <cidr>', 'allow this address or range only; may be repeated', several)
    .option(
      '--retention-days <days>',
      'retention period: erase records that are older (default: no limit)',
      wholeNumber(1),
    );
}

function settingsOf(options: ChangeOptions): SiteSettings {
  const origins = options.anyOrigin === true ? [] : options.allowedOrigin;
  const addresses = options.anyIp === true ? [] : options.allowedIp;
  const checked = ChangeSiteRequest.safeParse({
    ...(options.name !== undefined && { name: options.name }),
    ...(options.domain !== undefined && { domain: options.domain }),
    ...(origins !== undefined && { allowed_origins: [...origins] }),
    ...(addresses !== undefined && { allowed_ips: [...addresses] }),
  });
  if (!checked.success) throw new CommandError(z.prettifyError(checked.error));
  return checked.data;
}
