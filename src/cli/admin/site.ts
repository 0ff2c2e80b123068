import { readFile } from 'node:fs/promises';
import { Command } from 'commander';
import { parseStrictJson, StrictJsonError } from '../../../schemas/json/strict-json.js';
import { CatalogueError } from '../../catalogue/catalogue-error.js';
import { createSite } from '../../catalogue/create-site.js';
import { publishSiteConfig, SiteConfig } from '../../catalogue/publish-site-config.js';
import { jsonCommand, several, uuid, wholeNumber } from '../command.js';
import { type CliContext, print, withInstallation } from '../context.js';

interface CreateOptions {
  readonly json?: boolean;
  readonly tenant: string;
  readonly name: string;
  readonly domain: string;
  readonly verified?: boolean;
  readonly allowedOrigin?: readonly string[];
  readonly allowedIp?: readonly string[];
  readonly retentionDays?: number;
}

/** `admin site create|configure` */
export function siteCommand(context: CliContext): Command {
  const group = new Command('site').description('sites and their configurations');
  group.addCommand(
    jsonCommand('create', 'make a site of a tenant')
      .requiredOption('--tenant <id>', 'id of the tenant', uuid)
      .requiredOption('--name <name>', 'its name')
      .requiredOption('--domain <domain>', 'its domain, e.g. shop.example')
      .option('--verified', 'the domain is known to be the tenant’s')
      .option('--allowed-origin <origin>', 'allow browsers of this origin only; may be repeated', several)
      .option('--allowed-ip <cidr>', 'allow this address or range only; may be repeated', several)
      .option('--retention-days <days>', 'erase records that are older; never unless given', wholeNumber(1))
      .action(async (options: CreateOptions) => {
        await withInstallation(context, async ({ adminPool }) => {
          const { id } = await createSite(adminPool, {
            tenantId: options.tenant,
            name: options.name,
            domain: options.domain,
            isVerified: options.verified === true,
            allowedOrigins: [...(options.allowedOrigin ?? [])],
            allowedIps: [...(options.allowedIp ?? [])],
            retentionDays: options.retentionDays ?? null,
          });
          print(context, options, { id }, [`Site ${id} was made.`]);
        });
      }),
  );
  group.addCommand(
    jsonCommand('configure', 'publish a configuration of a site, in force from now on')
      .argument('<site>', 'id of the site', uuid)
      .requiredOption('--file <path>', 'JSON file; docs/http-api.md shows its members')
      .action(async (id: string, options: { readonly json?: boolean; readonly file: string }) => {
        const config = await readConfig(options.file);
        await withInstallation(context, async ({ adminPool }) => {
          const published = await publishSiteConfig(adminPool, id, config);
          print(context, options, published, [`Configuration ${published.number} is in force: ${published.sha256}`]);
        });
      }),
  );
  return group;
}

async function readConfig(path: string): Promise<SiteConfig> {
  try {
    const parsed = SiteConfig.safeParse(parseStrictJson(await readFile(path)));
    if (parsed.success) return parsed.data;
    const problems = parsed.error.issues.map((issue) => `  ${issue.path.join('.')}: ${issue.message}`);
    throw new CatalogueError('invalid', `${path} is not a site configuration:\n${problems.join('\n')}`);
  } catch (error) {
    if (error instanceof StrictJsonError) throw new CatalogueError('invalid', `${path}: ${error.message}`);
    throw error;
  }
}
