import type { Command } from 'commander';
import { ledgerKeyFile } from '../../app/ledger-files.js';
import { tsaRootFile } from '../../app/timestamping.js';
import { type SeededDemo, seedDemo } from '../../demo/seed/seed-demo.js';
import { jsonCommand, several, wholeNumber } from '../command/command.js';
import { type CliContext, print, withInstallation } from '../command/context.js';

interface Options {
  readonly json?: boolean;
  readonly quota?: number;
  readonly rateLimit?: number;
  readonly subscription: boolean;
  readonly unverified?: boolean;
  readonly allowedOrigin?: readonly string[];
  readonly allowedIp?: readonly string[];
}

/** `admin seed-demo` */
export function seedDemoCommand(context: CliContext): Command {
  return jsonCommand('seed-demo', 'create a demonstration tenant with site, keys, users and documents')
    .option('--quota <consents>', 'quota of consents a month', wholeNumber(0))
    .option(
      '--rate-limit <requests>',
      'limit of requests a minute (default: 120, as in the standard plan)',
      wholeNumber(1),
    )
    .option('--no-subscription', 'create the tenant without a plan')
    .option('--unverified', 'create the site unverified')
    .option('--allowed-origin <origin>', 'allow browsers of this origin only; may be repeated', several)
    .option('--allowed-ip <cidr>', 'allow this address or range only; may be repeated', several)
    .action(async (options: Options) => {
      await withInstallation(context, async ({ adminPool, config }) => {
        const seeded = await seedDemo(adminPool, {
          quota: options.quota,
          rateLimit: options.rateLimit,
          hasSubscription: options.subscription,
          isVerified: options.unverified !== true,
          allowedOrigins: options.allowedOrigin ?? [],
          allowedIps: options.allowedIp ?? [],
        });
        const result = { ...seeded, tsa_ca: tsaRootFile(config), ledger_key: ledgerKeyFile(config) };
        print(context, options, result, linesOf(result));
      });
    });
}

function linesOf(seeded: SeededDemo & { readonly tsa_ca: string; readonly ledger_key: string }): string[] {
  return [
    `Created demonstration tenant ${seeded.tenant_id}. Keys and passwords are shown only now.`,
    `  site          ${seeded.site.id}  ${seeded.site.domain}`,
    `  read key      ${seeded.keys.read}`,
    `  write key     ${seeded.keys.write}`,
    `  API user      ${seeded.api_user.email}  ${seeded.api_user.password}`,
    `  panel user    ${seeded.panel_user.email}  ${seeded.panel_user.password}`,
    `  categories    ${seeded.categories.join(', ')}`,
    ...seeded.documents.flatMap((document) => [
      `  document      ${document.slug}  ${document.id}${document.requires_approval_token ? '  (requires an approval token)' : ''}`,
      ...document.versions.map(
        ({ language, number, state, id }) => `    ${language} version ${number}  ${state.padEnd(8)}  ${id}`,
      ),
    ]),
    `  TSA root      ${seeded.tsa_ca}`,
    `  ledger key    ${seeded.ledger_key}`,
  ];
}
