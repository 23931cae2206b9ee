/**
 * Durations, ms.
 * @module
 */
export const second = 1000;
export const minute: number = 60 * second;
export const hour: number = 60 * minute;
