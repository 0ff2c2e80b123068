import { useState } from 'react';
import { STATED_REASONS } from '../../../../schemas/evidence/stated-reasons.js';
import { dataOf } from '../../api/client.js';
import { useApi } from '../../app-context.js';
import { useMessages } from '../../i18n/locale.js';
import { ActionForm, type Values } from '../../ui/action-form.js';
import { Button } from '../../ui/button.js';
import { startOfDay } from '../../ui/days.js';
import { Dialog } from '../../ui/dialog.js';
import { SelectInput, TextInput } from '../../ui/fields.js';
import { useAction } from '../../ui/use-action.js';
import { ReasonInput } from '../consents/reason.js';

/** Starts an export of records of a site. */
export function MakeExport({ siteId }: { readonly siteId: string }) {
  const { evidence } = useMessages();
  const api = useApi();
  const [isOpen, setOpen] = useState(false);
  const [disclose, setDisclose] = useState('none');
  const [stated, setStated] = useState('');
  const start = useAction((values: Values) => {
    const [from, to, type] = [values.text('from'), values.text('to'), values.text('consent_type').trim()];
    const reason = STATED_REASONS.find((one) => one === values.text('stated.reason'));
    const name = values.text('stated.name').trim();
    return dataOf(
      api.POST('/api/v1/sites/{site_id}/exports', {
        params: { path: { site_id: siteId } },
        body: {
          filter: {
            ...(from !== '' && { from: startOfDay(from, 0) }),
            ...(to !== '' && { to: startOfDay(to, 1) }),
            ...(type !== '' && { consent_type: type }),
          },
          ...(values.text('disclose') === 'all'
            ? { disclose: 'all', reason: values.text('reason') }
            : { disclose: 'none' }),
          ...(reason !== undefined && { stated: { reason, ...(name !== '' && { name }) } }),
        },
      }),
    );
  });
  return (
    <>
      <Button look="primary" onPress={() => setOpen(true)}>
        {evidence.add}
      </Button>
      <Dialog title={evidence.add} isOpen={isOpen} onClose={() => setOpen(false)}>
        <ActionForm
          submit={evidence.add}
          onCancel={() => setOpen(false)}
          action={async (values) => {
            await start(values);
            setOpen(false);
          }}
        >
          <div className="form-row">
            <TextInput name="from" type="date" label={evidence.from} />
            <TextInput name="to" type="date" label={evidence.to} />
          </div>
          <TextInput name="consent_type" label={evidence.type} hint={evidence.typeHint} />
          <SelectInput
            name="disclose"
            label={evidence.disclose}
            hint={evidence.discloseHint}
            value={disclose}
            onChange={setDisclose}
            options={(['none', 'all'] as const).map((value) => ({ value, label: evidence.disclosures[value] }))}
          />
          {disclose === 'all' ? <ReasonInput /> : null}
          <SelectInput
            name="stated.reason"
            label={evidence.stated}
            hint={evidence.statedHint}
            value={stated}
            onChange={setStated}
            options={[
              { value: '', label: evidence.noStatedReason },
              ...STATED_REASONS.map((value) => ({ value, label: evidence.statedReasons[value] })),
            ]}
          />
          {stated === '' ? null : (
            <TextInput name="stated.name" label={evidence.statedName} hint={evidence.statedNameHint} />
          )}
        </ActionForm>
      </Dialog>
    </>
  );
}
