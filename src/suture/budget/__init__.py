"""What is still affordable: allowances of effects, per operator, over sliding windows.

Pure. Counts; knows neither what an effect is nor why a policy asks.
"""
