"""How far a judge says what people say: labels, calibration, corrected figures."""
