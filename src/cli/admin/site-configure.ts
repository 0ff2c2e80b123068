import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { parseStrictJson, StrictJsonError } from '../../../schemas/json/strict-json.js';
import { changeAsOperator } from '../../audit-log/change-as-operator.js';
import { CatalogueError } from '../../catalogue/catalogue-error.js';
import { tenantOfSite } from '../../catalogue/owner-of.js';
import { publishSiteConfig, SiteConfig } from '../../catalogue/publish-site-config.js';
import { jsonCommand, uuid } from '../command.js';
import { type CliContext, print, withInstallation } from '../context.js';

/** `admin site configure` */
export function configureCommand(context: CliContext): Command {
  return jsonCommand('configure', 'publish a configuration of a site, in force from now on')
    .argument('<site>', 'id of the site', uuid)
    .requiredOption('--file <path>', 'JSON file; docs/http-api.md shows its members')
    .action(async (id: string, options: { readonly json?: boolean; readonly file: string }) => {
      const config = await readConfig(options.file);
      await withInstallation(context, async ({ adminPool }) => {
        const published = await changeAsOperator(adminPool, async (transaction) => {
          const result = await publishSiteConfig(transaction, id, config);
          return {
            result,
            tenantId: await tenantOfSite(transaction, id),
            action: 'configuration.publish',
            subject: { kind: 'site', id },
            details: { number: result.number, sha256: result.sha256 },
          };
        });
        print(context, options, published, [`Configuration ${published.number} is in force: ${published.sha256}`]);
      });
    });
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
