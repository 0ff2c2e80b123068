import { useId } from 'react';

interface ColourInputProps {
  readonly name: string;
  readonly label: string;
  /** Colour in the form `#rrggbb`. */
  readonly value: string;
  readonly onChange: (colour: string) => void;
}

/** A choice of a colour, by the control of the device. */
export function ColourInput({ name, label, value, onChange }: ColourInputProps) {
  const id = useId();
  return (
    <span className="colour">
      <input id={id} name={name} type="color" value={value} onChange={(event) => onChange(event.target.value)} />
      <label htmlFor={id}>{label}</label>
    </span>
  );
}
