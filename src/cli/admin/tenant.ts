import { Command, Option } from 'commander';
import { subscriptionOf, usagePage } from '../../api/panel/plans/show-usage.js';
import { tenantById, tenantList } from '../../api/panel/tenants/show-tenants.js';
import { changeAsOperator } from '../../platform/audit-log/change-as-operator.js';
import { changeSubscription, createTenant, renameTenant } from '../../tenancy/tenants/create-tenant.js';
import { PLANS } from '../../tenancy/tenants/plans.js';
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

/** `admin tenant list|show|create|rename|plan` */
export function tenantCommand(context: CliContext): Command {
  const group = new Command('tenant').description('manage tenants and their plans');
  for (const make of [listCommand, showCommand, createCommand, renameCommand, planCommand]) {
    group.addCommand(make(context));
  }
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

function showCommand(context: CliContext): Command {
  return jsonCommand('show', 'show a tenant with its plan and usage')
    .argument('<tenant>', 'id of the tenant', uuid)
    .action(async (id: string, options: Json) => {
      await withInstallation(context, async ({ adminPool }) => {
        const tenant = await tenantById(adminPool, id);
        const subscription = await subscriptionOf(adminPool, id);
        const usage = await allPages((page) => usagePage(adminPool, id, page));
        print(context, options, { ...tenant, subscription, usage }, [
          `${tenant.name}, since ${tenant.created_at}`,
          `plan: ${subscription.name}${subscription.is_active ? '' : ' (not active)'}, ${subscription.rate_limit_per_minute} requests a minute`,
          `consents this month: ${subscription.used_this_month} of ${subscription.consent_quota ?? 'unlimited'}`,
          ...usage.map(({ month, consents }) => `  ${month.slice(0, 7)}  ${consents}`),
        ]);
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

function renameCommand(context: CliContext): Command {
  return jsonCommand('rename', 'rename a tenant')
    .argument('<tenant>', 'id of the tenant', uuid)
    .requiredOption('--name <name>', 'new name')
    .action(async (id: string, options: Json & { readonly name: string }) => {
      await withInstallation(context, async ({ adminPool }) => {
        const isOther = await changeAsOperator(adminPool, async (db) => {
          const result = await renameTenant(db, id, options.name);
          const details = { changed: result ? ['name'] : [] };
          return { result, tenantId: id, action: 'tenant.change', subject: { kind: 'tenant', id }, details };
        });
        print(context, options, { id, changed: isOther }, [`Renamed tenant ${id} to ${options.name}.`]);
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
