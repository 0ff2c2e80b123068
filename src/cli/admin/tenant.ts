import { Command, Option } from 'commander';
import { changeSubscription, createTenant } from '../../catalogue/create-tenant.js';
import { PLANS } from '../../catalogue/plans.js';
import { jsonCommand, uuid, wholeNumber } from '../command.js';
import { type CliContext, print, withInstallation } from '../context.js';

interface PlanOptions {
  readonly json?: boolean;
  readonly plan: keyof typeof PLANS | 'none';
  readonly quota?: number;
  readonly rateLimit?: number;
}

/** `admin tenant create|plan` */
export function tenantCommand(context: CliContext): Command {
  const group = new Command('tenant').description('tenants and their plans');
  group.addCommand(
    withPlanOptions(jsonCommand('create', 'make a tenant'))
      .requiredOption('--name <name>', 'its name')
      .action(async (options: PlanOptions & { readonly name: string }) => {
        await withInstallation(context, async ({ adminPool }) => {
          const { id } = await createTenant(adminPool, options.name, planOf(options));
          print(context, options, { id }, [`Tenant ${id} was made.`]);
        });
      }),
  );
  group.addCommand(
    withPlanOptions(jsonCommand('plan', 'give a tenant another plan'))
      .argument('<tenant>', 'id of the tenant', uuid)
      .action(async (id: string, options: PlanOptions) => {
        await withInstallation(context, async ({ adminPool }) => {
          await changeSubscription(adminPool, id, planOf(options));
          print(context, options, { id, plan: options.plan }, [`The plan of tenant ${id} is ${options.plan}.`]);
        });
      }),
  );
  return group;
}

function withPlanOptions(command: Command): Command {
  return command
    .addOption(new Option('--plan <plan>', 'its plan').choices([...Object.keys(PLANS), 'none']).default('standard'))
    .option('--quota <consents>', 'consents a month, other than the plan has', wholeNumber(0))
    .option('--rate-limit <requests>', 'requests a minute, other than the plan has', wholeNumber(1));
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
