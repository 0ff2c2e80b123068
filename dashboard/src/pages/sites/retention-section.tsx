import { useState } from 'react';
import { dataOf } from '../../api/client.js';
import type { Site } from '../../api/types.js';
import { useApi, useMay } from '../../app-context.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { ActionForm } from '../../ui/action-form.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { TextInput } from '../../ui/fields.js';
import { Notice } from '../../ui/notice.js';
import { Section } from '../../ui/page.js';
import { useAction } from '../../ui/use-action.js';

/** How long the site keeps personal values. */
export function RetentionSection({ site }: { readonly site: Site }) {
  const { sites, common } = useMessages();
  const { number } = useFormats();
  const api = useApi();
  const mayChange = useMay('changeRetention');
  const [isOpen, setOpen] = useState(false);
  const change = useAction((retention_days: number | null) =>
    dataOf(
      api.PUT('/api/v1/sites/{site_id}/retention-period', {
        params: { path: { site_id: site.id } },
        body: { retention_days },
      }),
    ),
  );
  const days = site.retention_days;
  return (
    <Section
      title={sites.retention}
      actions={mayChange ? <Button onPress={() => setOpen(true)}>{common.edit}</Button> : null}
    >
      <p>{days === null ? sites.retentionNever : sites.retentionAfter(number(days))}</p>
      <Dialog title={sites.retention} isOpen={isOpen} onClose={() => setOpen(false)}>
        <ActionForm
          submit={common.save}
          look="danger"
          onCancel={() => setOpen(false)}
          action={async (values) => {
            await change(values.number('retention_days'));
            setOpen(false);
          }}
        >
          <Notice kind="warning">
            <p>{sites.retentionLead}</p>
          </Notice>
          <TextInput
            name="retention_days"
            type="number"
            label={sites.retentionDays}
            hint={sites.retentionHint}
            defaultValue={days === null ? '' : String(days)}
          />
        </ActionForm>
      </Dialog>
    </Section>
  );
}
