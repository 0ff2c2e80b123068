import { useState } from 'react';
import { WEBHOOK_EVENTS } from '../../../../schemas/api/panel/webhook-events.js';
import { dataOf } from '../../api/client.js';
import type { NewWebhook } from '../../api/types.js';
import { useApi } from '../../app-context.js';
import { useMessages } from '../../i18n/locale.js';
import { ActionForm, type Values } from '../../ui/action-form.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { Checkbox, TextInput } from '../../ui/fields.js';
import { useAction } from '../../ui/use-action.js';

interface AddWebhookProps {
  readonly siteId: string;
  readonly onCreated: (webhook: NewWebhook) => void;
}

/** Adds a webhook. Its secret is only in this response. */
export function AddWebhook({ siteId, onCreated }: AddWebhookProps) {
  const { webhooks } = useMessages();
  const api = useApi();
  const [isOpen, setOpen] = useState(false);
  const create = useAction((values: Values) =>
    dataOf(
      api.POST('/api/v1/sites/{site_id}/webhooks', {
        params: { path: { site_id: siteId } },
        body: {
          url: values.text('url').trim(),
          description: values.text('description').trim(),
          events: WEBHOOK_EVENTS.filter((event) => values.isTicked(event)),
        },
      }),
    ),
  );
  return (
    <>
      <Button look="primary" onPress={() => setOpen(true)}>
        {webhooks.add}
      </Button>
      <Dialog title={webhooks.add} isOpen={isOpen} onClose={() => setOpen(false)}>
        <ActionForm
          submit={webhooks.add}
          onCancel={() => setOpen(false)}
          action={async (values) => {
            onCreated(await create(values));
            setOpen(false);
          }}
        >
          <TextInput name="url" label={webhooks.url} hint={webhooks.urlHint} isRequired />
          <TextInput name="description" label={webhooks.description} />
          <fieldset className="field">
            <legend className="label">{webhooks.events}</legend>
            {WEBHOOK_EVENTS.map((event) => (
              <Checkbox key={event} name={event} defaultSelected>
                {webhooks.eventNames[event]}
              </Checkbox>
            ))}
          </fieldset>
        </ActionForm>
      </Dialog>
    </>
  );
}
