import { useState } from 'react';
import type { Category } from '../../api/types.js';
import { useMessages } from '../../i18n/locale.js';
import type { Values } from '../../ui/action-form.js';
import { Button } from '../../ui/button.js';
import { TextInput } from '../../ui/fields.js';

type Services = NonNullable<Category['services']>;
type Service = Services[number];

interface Row {
  /** Tells the rows apart while others are removed. */
  readonly id: number;
  readonly service: Service | null;
}

/** Rows of fields for the services of a category. `servicesIn` reads them. */
export function ServiceFields({ services }: { readonly services: Services }) {
  const { banner, common } = useMessages();
  const [rows, setRows] = useState<readonly Row[]>(services.map((service, id) => ({ id, service })));
  const add = () => setRows([...rows, { id: Math.max(-1, ...rows.map(({ id }) => id)) + 1, service: null }]);
  return (
    <fieldset className="stack">
      <legend className="label">{banner.services}</legend>
      <p className="hint">{banner.servicesHint}</p>
      {rows.map(({ id, service }, index) => (
        <div key={id} className="form-row">
          <TextInput
            name={`services.${index}.name`}
            label={banner.serviceName}
            defaultValue={service?.name ?? ''}
            isRequired
            takesFocus={service === null}
          />
          <TextInput
            name={`services.${index}.recipient`}
            label={banner.serviceRecipient}
            defaultValue={service?.recipient ?? ''}
            isRequired
          />
          <TextInput
            name={`services.${index}.policy_url`}
            label={banner.servicePolicy}
            defaultValue={service?.policy_url ?? ''}
          />
          <TextInput
            name={`services.${index}.key`}
            label={banner.key}
            defaultValue={service?.key ?? ''}
            isRequired
            isCode
          />
          <Button
            onPress={() => setRows(rows.filter((row) => row.id !== id))}
            aria-label={`${common.remove}: ${service?.name ?? `${banner.serviceName} ${index + 1}`}`}
          >
            {common.remove}
          </Button>
        </div>
      ))}
      <div>
        <Button onPress={add}>{banner.addService}</Button>
      </div>
    </fieldset>
  );
}

/**
 * The services of the form.
 * @param before those of the category
 * @returns undefined if there are none and were none, so that a category without services stays without the member
 */
export function servicesIn(values: Values, before: Services): Services | undefined {
  const services: Service[] = [];
  // A form has the names of its fields, whether they are filled in or not.
  for (let index = 0; values.isTicked(`services.${index}.key`); index += 1) {
    const text = (name: string) => values.text(`services.${index}.${name}`).trim();
    services.push({
      key: text('key'),
      name: text('name'),
      recipient: text('recipient'),
      policy_url: text('policy_url') || null,
    });
  }
  return services.length === 0 && before.length === 0 ? undefined : services;
}
