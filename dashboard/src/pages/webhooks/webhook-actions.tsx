import { dataOf } from '../../api/client.js';
import type { NewWebhook, Webhook } from '../../api/types.js';
import { useApi } from '../../app-context.js';
import { useMessages } from '../../i18n/locale.js';
import { TextInput } from '../../ui/fields.js';
import { RowMenu } from '../../ui/row-menu.js';
import { useAction } from '../../ui/use-action.js';

interface WebhookActionsProps {
  readonly value: Webhook;
  readonly siteId: string;
  readonly onSecret: (webhook: NewWebhook) => void;
}

/** Actions on a webhook: send a test, pause, continue, send events again, replace the secret, remove. */
export function WebhookActions({ value, siteId, onSecret }: WebhookActionsProps) {
  const { webhooks, common } = useMessages();
  const api = useApi();
  const params = { path: { site_id: siteId, webhook_id: value.id } };
  const enable = useAction((enabled: boolean) =>
    dataOf(api.PATCH('/api/v1/sites/{site_id}/webhooks/{webhook_id}', { params, body: { enabled } })),
  );
  const replay = useAction((from_revision: number) =>
    dataOf(api.POST('/api/v1/sites/{site_id}/webhooks/{webhook_id}/replay', { params, body: { from_revision } })),
  );
  const rotate = useAction(() =>
    dataOf(api.POST('/api/v1/sites/{site_id}/webhooks/{webhook_id}/rotate-secret', { params })),
  );
  const test = useAction(() => dataOf(api.POST('/api/v1/sites/{site_id}/webhooks/{webhook_id}/test', { params })));
  const remove = useAction(() => dataOf(api.DELETE('/api/v1/sites/{site_id}/webhooks/{webhook_id}', { params })));
  return (
    <RowMenu
      about={value.url}
      actions={[
        ...(value.disabled_at === null
          ? [{ label: webhooks.test, content: <p>{webhooks.testText}</p>, action: () => test(undefined) }]
          : []),
        value.disabled_at === null
          ? { label: webhooks.pause, content: <p>{webhooks.pauseText}</p>, action: () => enable(false) }
          : { label: webhooks.resume, content: <p>{webhooks.resumeText}</p>, action: () => enable(true) },
        {
          label: webhooks.replay,
          content: (
            <>
              <p>{webhooks.replayText}</p>
              <TextInput name="from_revision" type="number" label={webhooks.fromRevision} defaultValue="0" isRequired />
            </>
          ),
          action: (values) => replay(values.number('from_revision') ?? 0),
        },
        {
          label: webhooks.rotate,
          content: <p>{webhooks.rotateText}</p>,
          action: async () => onSecret(await rotate(undefined)),
        },
        {
          label: common.remove,
          isDanger: true,
          content: <p>{webhooks.removeText}</p>,
          action: () => remove(undefined),
        },
      ]}
    />
  );
}
