import { dataOf } from '../../api/client.js';
import type { NewWebhook, Webhook } from '../../api/types.js';
import { useApi } from '../../app-context.js';
import { useMessages } from '../../i18n/locale.js';
import { Confirm } from '../../ui/confirm.js';
import { TextInput } from '../../ui/fields.js';
import { useAction } from '../../ui/use-action.js';

interface WebhookActionsProps {
  readonly value: Webhook;
  readonly siteId: string;
  readonly onSecret: (webhook: NewWebhook) => void;
}

/** Actions on a webhook: pause, continue, send again, replace the secret, remove. */
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
  const remove = useAction(() => dataOf(api.DELETE('/api/v1/sites/{site_id}/webhooks/{webhook_id}', { params })));
  const about = value.url;
  return (
    <div className="actions">
      {value.disabled_at === null ? (
        <Confirm label={webhooks.pause} about={about} isDanger={false} action={() => enable(false)}>
          <p>{webhooks.pauseText}</p>
        </Confirm>
      ) : (
        <Confirm label={webhooks.resume} about={about} isDanger={false} action={() => enable(true)}>
          <p>{webhooks.resumeText}</p>
        </Confirm>
      )}
      <Confirm
        label={webhooks.replay}
        about={about}
        isDanger={false}
        action={(values) => replay(values.number('from_revision') ?? 0)}
      >
        <p>{webhooks.replayText}</p>
        <TextInput name="from_revision" type="number" label={webhooks.fromRevision} defaultValue="0" isRequired />
      </Confirm>
      <Confirm
        label={webhooks.rotate}
        about={about}
        isDanger={false}
        action={async () => onSecret(await rotate(undefined))}
      >
        <p>{webhooks.rotateText}</p>
      </Confirm>
      <Confirm label={common.remove} about={about} look="danger" action={() => remove(undefined)}>
        <p>{webhooks.removeText}</p>
      </Confirm>
    </div>
  );
}
