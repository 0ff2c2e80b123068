import { Command, Option } from 'commander';
import { tenantList } from '../../api/panel/tenants/show-tenants.js';
import { changeAsOperator } from '../../platform/audit-log.js';
import { changeSubscription, createTenant, PLANS } from '../../tenancy/tenants/tenants.js';
import { allPages } from '../command/all-pages.js';
import { jsonCommand, uuid, wholeNumber } from '../command/command.js';
import { type CliContext, print, withInstallation } from '../command/context.js';

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
    .option('--quota <consents>', 'quota of consents a month, instead of that of the plan', wholeNumber(0))
    .option('--rate-limit <requests>', 'limit of requests a minute, instead of that of the plan', wholeNumber(1));
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
